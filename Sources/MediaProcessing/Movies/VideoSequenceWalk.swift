import RichPush

/// The end of an MPEG-1 or MPEG-2 video stream without a container: that its last picture has all its slices.
///
/// Nothing declares the length of such a file, and a decoder is content with a picture of which only the header is
/// left. Source: ISO/IEC 13818-2, 6.2.3 and 6.2.4.
// Bounded throughout: places in the file, and as much behind them as a start code has; counts of pictures in memory.
package enum VideoSequenceWalk {
    /// Bytes at the end that are looked at: several pictures, even in high definition.
    private static let tailBytes = 4_000_000

    /// - Throws: `media.corrupt` when the last picture ends above the row where others of its kind end.
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
        /// 3 a frame, 1 and 2 the fields of one; MPEG-1 knows frames only.
        var structure = 3
        /// Row of macroblocks of the lowest slice; 0 without any.
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
