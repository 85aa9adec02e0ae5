import Foundation
import TestSupport

/// A client that sends each request on its own connection.
struct TestHTTPClient: Sendable {
    let port: Int
    var headers: [(String, String)] = []
    /// Keeps the service running.
    var service: LiveService?

    struct Response: Sendable {
        var status: Int
        /// The header fields in order; names in lowercase.
        var fields: [(name: String, value: String)]
        var body: [UInt8]

        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        var text: String { String(decoding: body, as: UTF8.self) }
        /// The body as a JSON object.
        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        }
        var code: String? { object["code"] as? String }
        /// The sentence of a problem.
        var detail: String? { object["detail"] as? String }
    }

    func get(_ path: String, _ headers: [(String, String)] = []) async throws -> Response {
        try await send("GET", path, headers)
    }

    func post(
        _ path: String, json body: String, type: String = "application/json", _ headers: [(String, String)] = []
    ) async throws -> Response {
        try await send("POST", path, headers + [("Content-Type", type)], body: Array(body.utf8))
    }

    func send(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Response {
        var lines = ["\(method) \(path) HTTP/1.1"]
        var fields = self.headers.filter { own in !headers.contains { $0.0 == own.0 } } + headers
        if !fields.contains(where: { $0.0 == "Host" }) { fields.append(("Host", "localhost:\(port)")) }
        fields.append(("Connection", "close"))
        if let body { fields.append(("Content-Length", "\(body.count)")) }
        lines += fields.map { "\($0.0): \($0.1)" }
        let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let connection = try RawConnection(port: port)
        try await connection.send(head + (body ?? []))
        let bytes = await connection.receiveAll()
        return try Self.response(bytes, isHead: method == "HEAD")
    }

    struct ResponseError: Error, CustomStringConvertible {
        var description: String
    }

    /// Parses a response with a plain or chunked body.
    static func response(_ bytes: [UInt8], isHead: Bool = false) throws -> Response {
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else {
            throw ResponseError(description: "no response: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = Int(lines[0].split(separator: " ")[1]) ?? 0
        let rest = Array(bytes[end.upperBound...])
        if status == 100 { return try response(rest, isHead: isHead) }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return (name: parts[0].lowercased(), value: (parts.last ?? "").trimmingCharacters(in: .whitespaces))
        }
        var response = Response(status: status, fields: fields, body: rest)
        if response.field("transfer-encoding") == "chunked" { response.body = unchunked(rest) }
        if let length = response.field("content-length").flatMap({ Int($0) }), !isHead, status != 304,
            response.body.count < length
        {
            throw ResponseError(description: "the body has \(response.body.count) of \(length) bytes")
        }
        return response
    }

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let line = rest.firstIndex(of: 10) {
            let size = Int(
                String(decoding: rest[..<line], as: UTF8.self).trimmingCharacters(in: .whitespaces), radix: 16)
            guard let size, size > 0, rest.distance(from: line, to: rest.endIndex) > size else { return result }
            result += rest[(line + 1)..<(line + 1 + size)]
            rest = rest[(line + 1 + size)...].dropFirst(2)
        }
        return result
    }
}
