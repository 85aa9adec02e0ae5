import MediaEngine
import MediaLibraries
import MediaTypes

/// Reads the chunks of a WebP up to the end that its header declares; data after it is ignored.
///
/// Source: Google, "WebP Container Specification".
enum WebPChunks {
    /// Bytes of a chunk's header: its name and its length.
    static let headerBytes = 8

    /// - Parameter body: Called with the name and the content of each chunk; returns false to stop.
    /// - Throws: `media.corrupt` when a chunk or the file is truncated.
    static func parse(_ window: ByteWindow, _ body: (String, Range<Int>) throws -> Bool) throws {
        guard try window.characters(at: 0, count: 4) == "RIFF", try window.characters(at: 8, count: 4) == "WEBP" else {
            throw window.broken("no WebP signature")
        }
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
