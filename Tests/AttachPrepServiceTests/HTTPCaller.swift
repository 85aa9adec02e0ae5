import Foundation
import TestSupport

/// One request on a connection of its own, and what came back.
struct HTTPCaller: Sendable {
    let port: Int
    var headers: [(String, String)] = []
    /// Lives as long as somebody may call it.
    var service: LiveService?

    struct Answer: Sendable {
        var status: Int
        /// The fields as they came; names in small letters.
        var fields: [(name: String, value: String)]
        var body: [UInt8]

        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        var text: String { String(decoding: body, as: UTF8.self) }
        /// The body as an object.
        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        }
        var code: String? { object["code"] as? String }
    }

    func get(_ path: String, _ headers: [(String, String)] = []) async throws -> Answer {
        try await send("GET", path, headers)
    }

    func post(
        _ path: String, json body: String, type: String = "application/json", _ headers: [(String, String)] = []
    ) async throws -> Answer {
        try await send("POST", path, headers + [("Content-Type", type)], body: Array(body.utf8))
    }

    func send(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Answer {
        var lines = ["\(method) \(path) HTTP/1.1"]
        var fields = self.headers.filter { mine in !headers.contains { $0.0 == mine.0 } } + headers
        if !fields.contains(where: { $0.0 == "Host" }) { fields.append(("Host", "localhost:\(port)")) }
        fields.append(("Connection", "close"))
        if let body { fields.append(("Content-Length", "\(body.count)")) }
        lines += fields.map { "\($0.0): \($0.1)" }
        let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let connection = try RawConnection(port: port)
        try await connection.send(head + (body ?? []))
        let bytes = await connection.receiveAll()
        return try Self.answer(bytes, isHead: method == "HEAD")
    }

    struct NoAnswer: Error, CustomStringConvertible {
        var description: String
    }

    /// Reads an answer, its body chunked or not.
    static func answer(_ bytes: [UInt8], isHead: Bool = false) throws -> Answer {
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else {
            throw NoAnswer(description: "no answer: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = Int(lines[0].split(separator: " ")[1]) ?? 0
        let rest = Array(bytes[end.upperBound...])
        if status == 100 { return try answer(rest, isHead: isHead) }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return (name: parts[0].lowercased(), value: (parts.last ?? "").trimmingCharacters(in: .whitespaces))
        }
        var answer = Answer(status: status, fields: fields, body: rest)
        if answer.field("transfer-encoding") == "chunked" { answer.body = unchunked(rest) }
        if let length = answer.field("content-length").flatMap({ Int($0) }), !isHead, status != 304,
            answer.body.count < length
        {
            throw NoAnswer(description: "the body has \(answer.body.count) of \(length) bytes")
        }
        return answer
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
