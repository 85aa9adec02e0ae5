import RichPush

/// The chunks of a WebP, walked to the end that its header declares; what follows that is nobody's.
///
/// Source: Google, "WebP Container Specification".
enum WebPChunks {
    /// Bytes in front of a chunk's content: its name and its length.
    static let headerBytes = 8

    /// - Parameter body: Gets the name and the content of each chunk; false ends the walk.
    /// - Throws: `media.corrupt` when a chunk or the file is cut.
    static func walk(_ window: ByteWindow, _ body: (String, Range<Int>) throws -> Bool) throws {
        guard try window.characters(at: 0, count: 4) == "RIFF", try window.characters(at: 8, count: 4) == "WEBP" else {
            throw window.broken("no WebP signature")
        }
        // Bounded throughout: lengths have four bytes, and each chunk ends in the file.
        let end = 8 + (try window.littleEndian(at: 4, bytes: 4))
        if end > window.size { throw window.cut }
        var offset = 12
        while offset + headerBytes <= end {
            let type = try window.characters(at: offset, count: 4)
            let size = try window.littleEndian(at: offset + 4, bytes: 4)
            let start = offset + headerBytes
            if size > end - start { throw window.cut }
            guard try body(type, start..<(start + size)) else { return }
            offset = start + size + size % 2
        }
    }
}
