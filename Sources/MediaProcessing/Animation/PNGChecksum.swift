import RichPush

/// The checksum of a PNG's chunks: CRC-32.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", annex D.
enum PNGChecksum {
    private static let table: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(clamping: number)) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
        }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~folded(bytes, into: ~0)
    }

    /// Of a run of any length, which is never in memory as a whole.
    static func of(_ range: Range<Int>, in window: ByteWindow) throws -> UInt32 {
        var value: UInt32 = ~0
        var offset = range.lowerBound
        while offset < range.upperBound {
            // Bounded throughout: the run lies in the file.
            let count = min(Limits.walkWindowBytes, range.upperBound - offset)
            value = folded(try window.whole(at: offset, count: count), into: value)
            offset += count
        }
        return ~value
    }

    private static func folded(_ bytes: some Sequence<UInt8>, into value: UInt32) -> UInt32 {
        // Bounded: one byte.
        bytes.reduce(value) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }
}
