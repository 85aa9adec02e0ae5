import RichPush

/// Boxes of a type in a part of a file.
///
/// Source: ISO/IEC 14496-12, 4.2.
enum BoxSearch {
    /// The contents of all boxes of a type, in order; `window` is asked for their headers alone.
    ///
    /// - Throws: `media.corrupt` when a box reaches past the end of its parent, or there are more than
    ///   `Limits.boxesMax`.
    static func all(_ type: String, in parent: Range<Int>, _ window: ByteWindow) throws -> [Range<Int>] {
        var found: [Range<Int>] = []
        try walk(parent, window) { name, content in
            if name == type { found.append(content) }
            return true
        }
        return found
    }

    /// The content of the first one; nil where there is none.
    static func first(_ type: String, in parent: Range<Int>, _ window: ByteWindow) throws -> Range<Int>? {
        var found: Range<Int>?
        try walk(parent, window) { name, content in
            if name == type { found = content }
            return found == nil
        }
        return found
    }

    /// Tells of each box until it is told to stop.
    // Bounded throughout: places in `parent`, which lies in the file; a size is compared with what is left of it before
    // it is added.
    static func walk(
        _ parent: Range<Int>, _ window: ByteWindow, _ body: (_ type: String, _ content: Range<Int>) throws -> Bool
    ) throws {
        var offset = parent.lowerBound
        for _ in 0..<Limits.boxesMax where offset + 8 <= parent.upperBound {
            var size = try window.bigEndian(at: offset, bytes: 4)
            var header = 8
            // A large size with its top bit set cannot be inside any file.
            if size == 1, offset + 16 <= parent.upperBound, try window.byte(at: offset + 8) < 0x80 {
                size = try window.bigEndian(at: offset + 8, bytes: 8)
                header = 16
            }
            if size == 0 { size = parent.upperBound - offset }
            guard size >= header, size <= parent.upperBound - offset else { throw window.cut }
            let type = try window.characters(at: offset + 4, count: 4)
            if try !body(type, offset + header..<offset + size) { return }
            offset += size
        }
        if offset + 8 <= parent.upperBound { throw window.broken("more than \(Limits.boxesMax) boxes") }
    }
}
