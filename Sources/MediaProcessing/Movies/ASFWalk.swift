import RichPush

/// The top-level objects of a Windows Media file: that they lie inside it.
///
/// Source: Microsoft, "Advanced Systems Format Specification 01.20.05", 2.1 and 3.
// Bounded throughout: places in the file; a size is compared with what is left of it before it is added.
package enum ASFWalk {
    /// - Throws: `media.corrupt` when an object reaches past the end of the file. A broadcast leaves its sizes at 0
    ///   and is taken as it is.
    package static func check(_ window: ByteWindow) throws {
        var offset = 0
        while offset + 24 <= window.size {
            let size = try window.littleEndian(at: offset + 16, bytes: 8)
            guard size >= 24 else { return }
            if size > window.size - offset { throw window.cut }
            offset += size
        }
    }
}
