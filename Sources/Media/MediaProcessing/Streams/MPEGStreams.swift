import MediaTypes

/// Checks the packs and packets of an MPEG program stream: the last one must be complete.
///
/// Source: ISO/IEC 13818-1, 2.5.3 (program stream), and ISO/IEC 11172-1, 2.4.3 for MPEG-1's pack header.
// Bounded throughout: offsets in the file, and sizes of 16 bits.
package enum MPEGProgramStreamValidator {
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

    /// Skips padding and junk up to the next pack or packet.
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
            // MPEG-2 has two marker bits where MPEG-1 has four, followed by stuffing.
            if try window.byte(at: offset + 4) & 0xC0 == 0x40 { return try 14 + Int(window.byte(at: offset + 13) & 7) }
            return 12
        case 0xBB...0xFF:
            return try 6 + window.bigEndian(at: offset + 4, bytes: 2)
        default:
            return 4
        }
    }
}

/// Checks the end of an MPEG-1 or MPEG-2 elementary video stream: its last picture must have all slices.
///
/// The file does not declare its length, and a decoder accepts a picture of which only the header is left.
/// Source: ISO/IEC 13818-2, 6.2.3 and 6.2.4.
// Bounded throughout: offsets in the file, and the length of a start code after them; counts of pictures in memory.
package enum MPEGVideoValidator {
    /// Bytes at the end that are checked: several pictures, even in high definition.
    private static let tailBytes = 4_000_000

    /// - Throws: `media.corrupt` when the last picture ends above the last row of the other pictures of its structure.
    package static func check(_ window: ByteWindow) throws {
        var pictures: [Picture] = []
        var offset = max(0, window.size - tailBytes)
        while let code = try nextStartCode(from: offset, of: window) {
            offset = code + 4
            if offset > window.size { throw window.cut }
            switch try window.byte(at: code + 3) {
            case 0x00: pictures.append(Picture())
            case 0x01...0xAF where !pictures.isEmpty:
                pictures[pictures.count - 1].lastRow = Int(clamping: try window.byte(at: code + 3))
            case 0xB5 where !pictures.isEmpty:
                try pictures[pictures.count - 1].readExtension(at: code + 4, of: window)
            default: break
            }
        }
        guard let last = pictures.popLast() else { return }
        let others = pictures.filter { $0.structure == last.structure && $0.lastRow > 0 }
        if last.lastRow < others.map(\.lastRow).min() ?? 0 { throw window.cut }
    }

    private struct Picture {
        /// 3 for a frame, 1 and 2 for the fields of one; MPEG-1 has frames only.
        var structure = 3
        /// Macroblock row of the lowest slice; 0 without slices.
        var lastRow = 0

        mutating func readExtension(at offset: Int, of window: ByteWindow) throws {
            let bytes = Array(try window.bytes(at: offset, count: 3))
            if bytes.count == 3, bytes[0] >> 4 == 8 { structure = Int(clamping: bytes[2] & 3) }
        }
    }

    private static func nextStartCode(from start: Int, of window: ByteWindow) throws -> Int? {
        var offset = start
        while offset + 3 <= window.size {
            let third = try window.byte(at: offset + 2)
            if third > 1 {
                offset += 3
            } else if try third == 1 && window.byte(at: offset) == 0 && window.byte(at: offset + 1) == 0 {
                return offset
            } else {
                offset += 1
            }
        }
        return nil
    }
}
