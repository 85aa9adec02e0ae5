import Foundation

/// What the loopback server does for one request: a list of steps, so that any bad manners can be spelled.
public struct LoopbackAnswer: Sendable {
    public enum Step: Sendable {
        case send(Data)
        /// Sends for ever, until the client has gone.
        case sendForever(Data)
        /// Sends one byte at a time with a pause behind each, until all are sent or the client has gone.
        case drip(Data, pauseMilliseconds: Int32)
        /// Reads until what the client has said since the request, or since the last such step, is enough.
        case receive(until: @Sendable (Data) -> Bool)
        /// Does nothing until the client has gone or the server stops.
        case hang
        /// Does nothing until the test opens the gate, the client has gone or the server stops.
        case wait(LoopbackGate)
        /// Tells the test that it has come so far.
        case open(LoopbackGate)
        /// Ends the connection in good order.
        case close
        /// Ends the connection with a TCP reset.
        case reset
    }

    public var steps: [Step]

    public init(_ steps: [Step]) {
        self.steps = steps
    }

    /// The same answer with more behind it.
    public func then(_ further: Step...) -> LoopbackAnswer {
        LoopbackAnswer(steps + further)
    }
}

extension LoopbackAnswer {
    /// 200 with a body and its length.
    public static func body(
        _ body: Data, type: String = "application/octet-stream", headers: [String: String] = [:]
    ) -> LoopbackAnswer {
        status(200, headers.merging(["Content-Type": type]) { own, _ in own }, body)
    }

    /// Any status; the length is declared unless the headers do it.
    public static func status(_ status: Int, _ headers: [String: String] = [:], _ body: Data = Data()) -> LoopbackAnswer
    {
        var headers = headers
        let hasLength = headers.keys.contains { ["content-length", "transfer-encoding"].contains($0.lowercased()) }
        if !hasLength, status != 204 { headers["Content-Length"] = String(body.count) }
        return head(status, headers).then(.send(body))
    }

    public static func redirect(_ location: String, status: Int = 302) -> LoopbackAnswer {
        self.status(status, ["Location": location])
    }

    /// A head alone: what follows it is up to further steps.
    public static func head(_ status: Int, _ headers: [String: String] = [:]) -> LoopbackAnswer {
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return raw("HTTP/1.1 \(status) Answer\r\n\(lines)\r\n")
    }

    /// A head that promises a body, and only the first part of it.
    public static func start(
        of body: Data, bytes: Int, declaring length: Int? = nil, _ headers: [String: String] = [:]
    ) -> LoopbackAnswer {
        let length = ["Content-Length": String(length ?? body.count)]
        return head(200, headers.merging(length) { own, _ in own }).then(.send(body.prefix(bytes)))
    }

    /// 206 from the byte asked for when `Range` is there and `If-Range` agrees, else 200 and everything.
    public static func ranged(_ body: Data, etag: String, for request: LoopbackRequest) -> LoopbackAnswer {
        let isSame = request.headers["if-range"].map { $0 == etag } ?? true
        guard let start = request.rangeStart, isSame else { return .body(body, headers: ["ETag": etag]) }
        let range = "bytes \(start)-\(body.count - 1)/\(body.count)"
        return .status(206, ["ETag": etag, "Content-Range": range], body.dropFirst(start))
    }

    /// Anything at all.
    public static func raw(_ text: String) -> LoopbackAnswer {
        LoopbackAnswer([.send(Data(text.utf8))])
    }

    /// 200 with these lines, as they are, before a body of no declared length unless the lines declare it.
    public static func lines(_ lines: String..., status: String = "200 Answer") -> LoopbackAnswer {
        raw("HTTP/1.1 \(status)\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n")
    }

    /// One piece of a chunked body.
    public static func chunk(_ piece: Data) -> Data {
        Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8)
    }
}
