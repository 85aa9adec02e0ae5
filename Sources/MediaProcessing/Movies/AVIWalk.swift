import RichPush

/// The chunks of an AVI: that the file holds what they declare.
///
/// Source: Microsoft's "AVI RIFF File Reference" and the OpenDML extensions 1.02 (several RIFF chunks).
// Bounded throughout: places in the file, and sizes of 32 bits.
package enum AVIWalk {
    /// Some writers count the eight bytes of the chunk's own header.
    private static let toleranceBytes = 8

    /// - Throws: `media.corrupt` when a list reaches past the end of the file or there is no movie list.
    package static func check(_ window: ByteWindow) throws {
        var offset = 0
        var hasMovie = false
        while offset + 12 <= window.size, try window.characters(at: offset, count: 4) == "RIFF" {
            let end = try declaredEnd(at: offset, of: window)
            if end > window.size + toleranceBytes { throw window.cut }
            hasMovie = try walkLists(from: offset + 12, to: min(end, window.size), of: window) || hasMovie
            offset = end
        }
        if !hasMovie { throw window.cut }
    }

    /// Zero and all ones are what a writer leaves that could not go back to fill the size in.
    private static func declaredEnd(at offset: Int, of window: ByteWindow) throws -> Int {
        let size = try window.littleEndian(at: offset + 4, bytes: 4)
        if size == 0 || size == 0xFFFF_FFFF { return window.size }
        return offset + 8 + size + size % 2
    }

    private static func walkLists(from start: Int, to end: Int, of window: ByteWindow) throws -> Bool {
        var offset = start
        var hasMovie = false
        while offset + 8 <= end {
            let name = try window.characters(at: offset, count: 4)
            let isMovie = try name == "LIST" && window.characters(at: offset + 8, count: 4) == "movi"
            hasMovie = hasMovie || isMovie
            let next = isMovie ? try declaredEnd(at: offset, of: window) : try chunkEnd(at: offset, of: window)
            if next > window.size + (isMovie ? toleranceBytes : 1) {
                // Junk after the movie's last list is nobody's loss; a list that is cut is.
                if hasMovie, !["LIST", "idx1", "JUNK"].contains(name) { return true }
                throw window.cut
            }
            offset = next
        }
        return hasMovie
    }

    private static func chunkEnd(at offset: Int, of window: ByteWindow) throws -> Int {
        let size = try window.littleEndian(at: offset + 4, bytes: 4)
        return offset + 8 + size + size % 2
    }
}
