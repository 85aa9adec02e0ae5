/// Compressed bodies: valid, corrupt, endless, and decompression bombs.
public enum Compressed {
    /// A gzip header without optional fields (RFC 1952).
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]

    public static let samples: [[UInt8]] = [
        gzip(Array("attachprep".utf8)),
        // With a wrong checksum.
        header + [1, 10, 0, 0xF5, 0xFF] + Array("attachprep".utf8) + [0x37, 0x4D, 0x55, 0x52, 10, 0, 0, 0],
        // Only a header.
        header,
        // A name that never ends.
        [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0x61, count: 60_000),
        // A field with a declared length of 65,535 bytes.
        [0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF] + [UInt8](repeating: 0x61, count: 1_000),
        // Empty stored blocks without output.
        header + Array(repeatElement([0, 0, 0, 0xFF, 0xFF] as [UInt8], count: 10_000).joined()),
        // Zeros: 258 bytes for each two bits of the fixed code.
        header + [0xED, 0xC1, 0x01, 0x01, 0, 0, 0, 0x80, 0x90, 0xFE, 0xAF, 0xEE, 0x08, 0x0A],
        // A fixed block of one zero and copies of it without end.
        header + [0x63, 0x60] + [UInt8](repeating: 0x18, count: 4_000),
        // zlib's header, and raw deflate.
        [0x78, 0x9C, 0x03, 0, 0, 0, 0, 1], [0x03, 0x00], [0x78, 0xDA, 0xFF, 0xFF],
        // Brotli's and Zstandard's empty streams, and a frame of 2^41 bytes.
        [0x06], [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 1, 0, 0],
        [0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0, 0, 0, 0, 0, 2, 0, 0] + [UInt8](repeating: 0x02, count: 3_000),
        // Two members.
        header + [1, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0] + header + [1, 0, 0, 0xFF, 0xFF],
    ]

    /// A valid gzip member of stored blocks.
    public static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var member = header
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(60_000)
            rest = rest.dropFirst(60_000)
            let count = UInt16(block.count)
            member.append(rest.isEmpty ? 1 : 0)
            for half in [count, ~count] { member += [UInt8(truncatingIfNeeded: half), UInt8(half >> 8)] }
            member += block
        } while !rest.isEmpty
        for word in [checksum(bytes), UInt32(truncatingIfNeeded: bytes.count)] {
            member += (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        return member
    }

    private static let table: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }
}
