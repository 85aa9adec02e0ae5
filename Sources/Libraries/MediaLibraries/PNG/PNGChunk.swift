internal import SafeArithmetic

/// The parts that a PNG file is written of.
///
/// Source: PNG (Third Edition), 5.2 and 5.3: https://www.w3.org/TR/png-3/
package enum PNGChunk {
    /// The first bytes of a file.
    package static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A chunk: length, type, content and checksum.
    package static func bytes(_ type: String, content: [UInt8]) -> [UInt8] {
        // Bounded throughout: array concatenation.
        let checked = Array(type.utf8) + content
        return bigEndian(content.count) + checked + bigEndian(Int(clamping: checksum(checked[...])))
    }

    /// The checksum of type and content.
    ///
    /// - Parameter preceding: The checksum of the bytes before these; 0 when they are the first.
    package static func checksum(_ bytes: ArraySlice<UInt8>, after preceding: UInt32 = 0) -> UInt32 {
        CRC32.checksum(bytes, after: preceding)
    }

    /// The lowest 32 bits.
    package static func bigEndian(_ number: Int) -> [UInt8] {
        // Bounded: four bytes.
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
