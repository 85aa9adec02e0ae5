/// The HTTP/2 frames that a script sends (RFC 9113), with headers as HPACK literals.
public enum HTTP2 {
    public static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    struct Frame {
        var kind: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]

        /// Nil while the frame is incomplete.
        init?(taking bytes: inout [UInt8]) {
            guard bytes.count >= 9 else { return nil }
            let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
            guard bytes.count >= 9 + length else { return nil }
            kind = bytes[3]
            flags = bytes[4]
            stream = bytes[5..<9].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
            payload = Array(bytes[9..<9 + length])
            bytes.removeFirst(9 + length)
        }
    }

    /// - Parameter length: The length in the frame header; nil for the actual length.
    public static func frame(
        _ kind: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8], length: Int? = nil
    ) -> [UInt8] {
        let count = length ?? payload.count
        let head: [UInt8] = [
            UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8),
            UInt8(truncatingIfNeeded: count), kind, flags,
        ]
        return head + word(stream) + payload
    }

    public static func word(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// A header block of literals without indexing and without Huffman coding.
    public static func headers(_ fields: [(name: String, value: String)]) -> [UInt8] {
        fields.flatMap { [0x00] + text($0.name) + text($0.value) }
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return integer(bytes.count, prefixBits: 7) + bytes
    }

    /// RFC 7541, 5.1.
    private static func integer(_ number: Int, prefixBits: Int) -> [UInt8] {
        let limit = 1 << prefixBits - 1
        guard number >= limit else { return [UInt8(number)] }
        var (bytes, rest) = ([UInt8(limit)], number - limit)
        while rest >= 128 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// A body in frames, the last of which ends the stream.
    public static func data(_ bytes: [UInt8], stream: UInt32, ends: Bool) -> [UInt8] {
        var frames: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let piece = Array(rest.prefix(16_384))
            rest = rest.dropFirst(16_384)
            frames += frame(0, flags: rest.isEmpty && ends ? 1 : 0, stream: stream, piece)
        } while !rest.isEmpty
        return frames
    }
}
