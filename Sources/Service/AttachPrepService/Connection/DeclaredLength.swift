import MediaTypes
import NIOCore

/// Tells a `Content-Length` beyond 64 bits from one that is no number: llhttp reports both as the same error.
///
/// It stands before the decoder and remembers the bytes that are being parsed, and a few before them. Runs on the
/// event loop of its connection.
final class DeclaredLengthReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var before: [UInt8] = []
    private var parsed: ByteBuffer?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        parsed = bytes
        context.fireChannelRead(data)
        parsed = nil
        before = Array((before + bytes.readableBytesView.suffix(Self.keptBytes)).suffix(Self.keptBytes))
    }

    /// The name, some spaces, and the 20 digits of the largest 64-bit number.
    private static let keptBytes = 64

    /// Whether the bytes that are being parsed declare a length of more than 64 bits.
    var exceedsInteger: Bool {
        guard let parsed else { return false }
        // Bounded: some KB in memory.
        return Self.declaresTooMuch(before + parsed.readableBytesView.prefix(Limits.requestHeaderBytesMax))
    }

    /// Whether there is a `Content-Length` of digits that is no 64-bit number; linear. Pure.
    static func declaresTooMuch(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                line[..<colon].map({ $0 | 0x20 }).elementsEqual("content-length".utf8)
            else { return false }
            let value = line[line.index(after: colon)...].drop { $0 == 0x20 || $0 == 0x09 }
            let digits = value.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            let end = value[digits.endIndex...]
            guard end.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) else { return false }
            // Bounded: nil where it does not fit.
            return digits.count > 18 && UInt64(String(decoding: digits, as: UTF8.self)) == nil
        }
    }
}
