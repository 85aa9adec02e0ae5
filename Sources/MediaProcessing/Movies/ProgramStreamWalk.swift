import RichPush

/// The packs and packets of an MPEG program stream: that the last one is whole.
///
/// Source: ISO/IEC 13818-1, 2.5.3 (program stream), and ISO/IEC 11172-1, 2.4.3 for MPEG-1's pack header.
// Bounded throughout: places in the file, and sizes of 16 bits.
package enum ProgramStreamWalk {
    /// - Throws: `media.corrupt` when a packet reaches past the end of the file.
    package static func check(_ window: ByteWindow) throws {
        var offset = 0
        while offset + 4 <= window.size {
            guard try isStartCode(at: offset, of: window) else {
                offset = try nextStartCode(after: offset, of: window)
                continue
            }
            let end = offset + (try length(at: offset, of: window))
            if end > window.size { throw window.cut }
            offset = end
        }
    }

    private static func isStartCode(at offset: Int, of window: ByteWindow) throws -> Bool {
        try window.byte(at: offset + 2) == 1 && window.byte(at: offset) == 0 && window.byte(at: offset + 1) == 0
    }

    /// Padding and what a broken recorder left are stepped over; the next pack or packet counts.
    private static func nextStartCode(after offset: Int, of window: ByteWindow) throws -> Int {
        var next = offset + 1
        while next + 4 <= window.size {
            let third = try window.byte(at: next + 2)
            if third > 1 {
                next += 3
            } else if third == 1, try isStartCode(at: next, of: window) {
                return next
            } else {
                next += 1
            }
        }
        return window.size
    }

    private static func length(at offset: Int, of window: ByteWindow) throws -> Int {
        switch try window.byte(at: offset + 3) {
        case 0xBA:
            // MPEG-2 has two marker bits where MPEG-1 has four, and stuffing behind.
            if try window.byte(at: offset + 4) & 0xC0 == 0x40 { return try 14 + Int(window.byte(at: offset + 13) & 7) }
            return 12
        case 0xBB...0xFF:
            return try 6 + window.bigEndian(at: offset + 4, bytes: 2)
        default:
            return 4
        }
    }
}
