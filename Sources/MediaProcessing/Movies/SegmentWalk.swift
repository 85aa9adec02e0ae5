import RichPush

/// The two outer elements of a Matroska or WebM file: that the segment lies inside it.
///
/// Source: RFC 8794 (EBML), 4 and 6.2; RFC 9559 (Matroska), 4.
// Bounded throughout: places in the file, and sizes of 56 bits: the walk is over behind one that is larger than it.
package enum SegmentWalk {
    private static let header = 0x1A45_DFA3
    private static let segment = 0x1853_8067

    /// - Throws: `media.corrupt` when the segment declares more bytes than there are. A segment of unknown size, as
    ///   live recorders write it, is taken as it is.
    package static func check(_ window: ByteWindow) throws {
        var offset = 0
        for _ in 0..<16 where offset + 8 <= window.size {
            let identifier = try window.bigEndian(at: offset, bytes: 4)
            let (size, length) = try dataSize(at: offset + 4, of: window)
            guard let size else { return }
            let end = offset + 4 + length + size
            if identifier == segment || identifier == header, end > window.size { throw window.cut }
            if identifier == segment { return }
            offset = end
        }
    }

    /// A variable-length integer; nil for all ones, which says "unknown".
    private static func dataSize(at offset: Int, of window: ByteWindow) throws -> (size: Int?, length: Int) {
        let first = try window.byte(at: offset)
        let length = first.leadingZeroBitCount + 1
        if length > 8 { throw window.broken("element size at \(offset)") }
        let value = try window.bigEndian(at: offset, bytes: length)
        let mask = (1 << (7 * length)) - 1
        return (value & mask == mask ? nil : value & mask, length)
    }
}
