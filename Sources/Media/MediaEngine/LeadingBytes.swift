import SafeArithmetic

/// The first bytes of a file, with bounds-checked access.
package struct LeadingBytes: Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var count: Int { bytes.count }

    /// The byte at an offset; 0 past the end.
    package subscript(offset: Int) -> UInt8 {
        offset >= 0 && offset < bytes.count ? bytes[offset] : 0
    }

    /// Whether the bytes at an offset equal `expected`.
    package func has(_ expected: [UInt8], at offset: Int = 0) -> Bool {
        // Bounded throughout: both are in memory, and an offset is compared before anything is added to it.
        guard offset >= 0, offset <= bytes.count - expected.count else { return false }
        return expected.indices.allSatisfy { bytes[offset + $0] == expected[$0] }
    }

    /// Whether the bytes at an offset equal this ASCII text.
    package func has(_ text: String, at offset: Int = 0) -> Bool {
        has(Array(text.utf8), at: offset)
    }

    /// The four characters at an offset, as in four-character codes; nil past the end.
    package func code(at offset: Int) -> String? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        // Bounded: the range lies in memory.
        return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    }

    /// The big-endian 32-bit number at an offset.
    package func bigEndian32(at offset: Int) -> Int {
        // Bounded: four bytes.
        (0..<4).reduce(0) { $0 << 8 | Int(self[offset.adding(clamping: $1)]) }
    }

    /// Whether this ASCII text occurs in the first `limit` bytes.
    package func contains(_ text: String, within limit: Int) -> Bool {
        let wanted = Array(text.utf8)
        // Bounded: both are in memory.
        let end = min(limit, bytes.count) - wanted.count
        guard end >= 0 else { return false }
        return (0...end).contains { has(wanted, at: $0) }
    }
}
