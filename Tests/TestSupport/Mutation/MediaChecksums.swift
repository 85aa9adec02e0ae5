/// Recomputes the checksums of a mutated file: readers would reject it early otherwise.
public enum MediaChecksums {
    /// PNG chunks and Ogg pages.
    public static func repair(_ bytes: inout [UInt8]) {
        let isPNG = bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
        guard isPNG || bytes.starts(with: Array("OggS".utf8)) else { return }
        for chunk in MediaChunk.all(of: bytes) {
            if isPNG { repairPNG(chunk.range, &bytes) } else { repairOgg(chunk.range, &bytes) }
        }
    }

    /// CRC-32 as in PNG and zlib.
    public static func png(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { reflected[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }

    private static let reflected: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    private static let plain: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { value, _ in value >> 31 == 1 ? value << 1 ^ 0x04C1_1DB7 : value << 1 }
    }

    private static func repairPNG(_ range: Range<Int>, _ bytes: inout [UInt8]) {
        let sum = png(bytes[range.lowerBound + 4..<range.upperBound - 4])
        for index in 0..<4 { bytes[range.upperBound - 4 + index] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * index)) }
    }

    private static func repairOgg(_ range: Range<Int>, _ bytes: inout [UInt8]) {
        let field = range.lowerBound + 22..<range.lowerBound + 26
        bytes.replaceSubrange(field, with: [0, 0, 0, 0])
        let sum = bytes[range].reduce(0 as UInt32) { plain[Int(UInt8($0 >> 24) ^ $1)] ^ $0 << 8 }
        for (byte, offset) in field.enumerated() { bytes[offset] = UInt8(truncatingIfNeeded: sum >> (8 * byte)) }
    }
}
