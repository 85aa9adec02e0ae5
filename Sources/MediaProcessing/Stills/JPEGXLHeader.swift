import SafeArithmetic

/// Reads from a JPEG XL's header whether it is animated, which libvips does not report: it decodes the last frame.
///
/// Source: ISO/IEC 18181-1, annex D (SizeHeader, ImageMetadata); ISO/IEC 18181-2, 9 (boxes).
package enum JPEGXLHeader {
    /// Boxes that are searched for the codestream.
    private static let boxesMax = 64

    /// - Throws: `media.corrupt` when the file ends before its header does.
    package static func isAnimated(_ window: ByteWindow) throws -> Bool {
        guard let start = try codestream(window) else { return false }
        // The longest header up to the flag has 16 bytes.
        var bits = Bits(bytes: Array(try window.bytes(at: start, count: 32)))
        guard bits.read(16) == 0x0AFF else { return false }
        bits.skipSize()
        // All metadata has its default, or none of the fields that few images have.
        guard bits.read(1) == 0, bits.read(1) == 1 else { return false }
        _ = bits.read(3)
        if bits.read(1) == 1 { bits.skipSize() }
        // The size of a preview comes before the flag; no encoder writes one.
        return bits.read(1) == 0 && bits.read(1) == 1
    }

    /// The offset of the codestream in its container, or of a bare one.
    // Bounded throughout: offsets in the file; a size is compared with what is left of it before it is added.
    private static func codestream(_ window: ByteWindow) throws -> Int? {
        if try window.bytes(at: 0, count: 2).elementsEqual([0xFF, 0x0A]) { return 0 }
        var offset = 0
        for _ in 0..<boxesMax where offset + 12 <= window.size {
            let size = try window.bigEndian(at: offset, bytes: 4)
            switch try window.characters(at: offset + 4, count: 4) {
            case "jxlc": return offset + 8
            // A part, with its number.
            case "jxlp": return offset + 12
            default: break
            }
            guard size >= 8, size <= window.size - offset else { return nil }
            offset += size
        }
        return nil
    }

    /// Bits from the lowest of each byte; zeros past the end.
    private struct Bits {
        let bytes: [UInt8]
        private var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        // Bounded throughout: some 100 bits are read, at most 30 at a time.

        mutating func read(_ count: Int) -> Int {
            defer { position += count }
            return (0..<count).reduce(0) { value, index in
                let bit = position + index
                return bit / 8 < bytes.count ? value | Int(bytes[bit / 8] >> (bit % 8) & 1) << index : value
            }
        }

        mutating func skipSize() {
            let isSmall = read(1) == 1
            skipSide(isSmall)
            if read(3) == 0 { skipSide(isSmall) }
        }

        private mutating func skipSide(_ isSmall: Bool) {
            _ = isSmall ? read(5) : read([9, 13, 18, 30][read(2)])
        }
    }
}
