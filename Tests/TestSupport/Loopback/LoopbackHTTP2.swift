import Foundation

/// Hand-made HTTP/2 frames and responses; used behind a `TLSRelay` that offers "h2".
///
/// The client's preface begins with a line of the form of a request, "PRI * HTTP/2.0", so that a handler for the path
/// "*" is the whole conversation of one connection.
public enum LoopbackHTTP2 {
    /// RFC 9113, 6.
    public enum Kind: UInt8, Sendable {
        case data = 0
        case headers, priority, reset, settings, push, ping, goAway, windowUpdate, continuation
    }

    public static let endStream: UInt8 = 0x1
    public static let acknowledgment: UInt8 = 0x1
    public static let endHeaders: UInt8 = 0x4

    /// One frame; `declaring` overrides its length field.
    public static func frame(
        _ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 1, _ payload: Data = Data(), declaring length: Int? = nil
    ) -> Data {
        let length = UInt32(length ?? payload.count)
        return bigEndian(length).suffix(3) + Data([kind.rawValue, flags]) + bigEndian(stream) + payload
    }

    /// The head of the response to the first request: ":status" and fields, without indexing.
    public static func head(_ fields: [(String, String)] = [], status: Int = 200, isLast: Bool = false) -> Data {
        let flags = endHeaders | (isLast ? endStream : 0)
        return frame(.headers, flags: flags, block([(":status", String(status))] + fields))
    }

    /// A header block of literal fields, RFC 7541, 6.2.2.
    public static func block(_ fields: [(String, String)]) -> Data {
        fields.reduce(into: Data()) { $0 += Data([0]) + string($1.0) + string($1.1) }
    }

    /// A piece of the body.
    public static func data(_ piece: Data, isLast: Bool = false) -> Data {
        frame(.data, flags: isLast ? endStream : 0, piece)
    }

    /// RST_STREAM with an error code.
    public static func reset(_ code: UInt32) -> Data { frame(.reset, bigEndian(code)) }

    /// GOAWAY: no stream after this one is processed.
    public static func goAway(last stream: UInt32, _ code: UInt32) -> Data {
        frame(.goAway, stream: 0, bigEndian(stream) + bigEndian(code))
    }

    /// One connection: settings are exchanged and the request is read before the steps.
    public static func conversation(settings: Data = Data(), _ steps: [LoopbackResponse.Step]) -> LoopbackResponse {
        LoopbackResponse(
            [
                .send(frame(.settings, stream: 0, settings)), .receive(until: { frames(in: $0).contains(.headers) }),
                .send(frame(.settings, flags: acknowledgment, stream: 0)),
            ] + steps)
    }

    public static func bigEndian(_ number: UInt32) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }

    /// The complete frames that a client sent after its preface.
    private static func frames(in received: Data) -> [Kind] {
        var rest = Array(received.dropFirst("SM\r\n\r\n".utf8.count))[...]
        var kinds: [Kind] = []
        while rest.count >= 9 {
            let length = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            let kind = Kind(rawValue: rest[rest.startIndex + 3])
            guard rest.count >= 9 + length else { break }
            if let kind { kinds.append(kind) }
            rest = rest.dropFirst(9 + length)
        }
        return kinds
    }

    /// RFC 7541, 5.2, without Huffman's code.
    private static func string(_ text: String) -> Data { integer(text.utf8.count, prefixBits: 7) + Data(text.utf8) }

    /// RFC 7541, 5.1.
    private static func integer(_ number: Int, prefixBits: Int) -> Data {
        let most = 1 << prefixBits - 1
        guard number >= most else { return Data([UInt8(number)]) }
        var bytes = Data([UInt8(most)])
        var rest = number - most
        while rest >= 128 {
            bytes.append(UInt8(rest % 128 | 128))
            rest /= 128
        }
        return bytes + Data([UInt8(rest)])
    }
}
