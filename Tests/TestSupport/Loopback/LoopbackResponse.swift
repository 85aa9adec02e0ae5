import Foundation

/// The loopback server's response to one request: a list of steps, so that tests can script any misbehavior.
public struct LoopbackResponse: Sendable {
    public enum Step: Sendable {
        case send(Data)
        /// Sends forever, until the client has disconnected.
        case sendForever(Data)
        /// Sends one byte at a time with a pause after each, until all are sent or the client has disconnected.
        case drip(Data, pauseMilliseconds: Int32)
        /// Reads until the condition is true for the bytes since the request, or since the last such step.
        case receive(until: @Sendable (Data) -> Bool)
        /// Does nothing until the client has disconnected or the server stops.
        case hang
        /// Does nothing until the test opens the gate, the client has disconnected or the server stops.
        case wait(LoopbackGate)
        /// Signals the test that this step was reached.
        case open(LoopbackGate)
        /// Closes the connection with FIN.
        case close
        /// Ends the connection with a TCP reset.
        case reset
    }

    public var steps: [Step]

    public init(_ steps: [Step]) {
        self.steps = steps
    }

    /// The response followed by more steps.
    public func then(_ further: Step...) -> LoopbackResponse {
        LoopbackResponse(steps + further)
    }
}

extension LoopbackResponse {
    /// 200 with a body and its length.
    public static func body(
        _ body: Data, type: String = "application/octet-stream", headers: [String: String] = [:]
    ) -> LoopbackResponse {
        status(200, headers.merging(["Content-Type": type]) { own, _ in own }, body)
    }

    /// Any status; the length is declared unless the headers do it.
    public static func status(
        _ status: Int, _ headers: [String: String] = [:], _ body: Data = Data()
    ) -> LoopbackResponse {
        var headers = headers
        let hasLength = headers.keys.contains { ["content-length", "transfer-encoding"].contains($0.lowercased()) }
        if !hasLength, status != 204 { headers["Content-Length"] = String(body.count) }
        return head(status, headers).then(.send(body))
    }

    public static func redirect(_ location: String, status: Int = 302) -> LoopbackResponse {
        self.status(status, ["Location": location])
    }

    /// The head without a body: add the body as further steps.
    public static func head(_ status: Int, _ headers: [String: String] = [:]) -> LoopbackResponse {
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return raw("HTTP/1.1 \(status) Answer\r\n\(lines)\r\n")
    }

    /// A head that declares a body, and only the first part of it.
    public static func start(
        of body: Data, bytes: Int, declaring length: Int? = nil, _ headers: [String: String] = [:]
    ) -> LoopbackResponse {
        let length = ["Content-Length": String(length ?? body.count)]
        return head(200, headers.merging(length) { own, _ in own }).then(.send(body.prefix(bytes)))
    }

    /// 206 from the requested byte when there is a `Range` and `If-Range` matches, else 200 with the whole body.
    public static func ranged(_ body: Data, etag: String, for request: LoopbackRequest) -> LoopbackResponse {
        let isSame = request.headers["if-range"].map { $0 == etag } ?? true
        guard let start = request.rangeStart, isSame else { return .body(body, headers: ["ETag": etag]) }
        let range = "bytes \(start)-\(body.count - 1)/\(body.count)"
        return .status(206, ["ETag": etag, "Content-Range": range], body.dropFirst(start))
    }

    /// Raw bytes, valid HTTP or not.
    public static func raw(_ text: String) -> LoopbackResponse {
        LoopbackResponse([.send(Data(text.utf8))])
    }

    /// 200 with these header lines unchanged; the length of the body is not declared unless a line does it.
    public static func lines(_ lines: String..., status: String = "200 Answer") -> LoopbackResponse {
        raw("HTTP/1.1 \(status)\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n")
    }

    /// One chunk of a chunked body.
    public static func chunk(_ piece: Data) -> Data {
        Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8)
    }
}

/// A request as received by the loopback server.
public struct LoopbackRequest: Sendable {
    public let method: String
    /// The request target as received, query included.
    public let target: String
    /// Names in lowercase.
    public let headers: [String: String]
    /// `Content-Length` bytes; empty without that header.
    public let body: Data
    /// 1 for the first request to this path, 2 for the second, and so on.
    public let number: Int
    /// The number of its connection, from 1.
    public let connection: Int

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The first byte of "Range: bytes=N-"; nil without such a header.
    public var rangeStart: Int? {
        guard let range = headers["range"], range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }
}
