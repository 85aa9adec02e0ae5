import RichPush

/// The tags of a Flash video: that the last one is whole.
///
/// Source: Adobe, "Video File Format Specification 10.1", E.2 to E.4.
// Bounded throughout: places in the file, and sizes of at most 32 bits.
package enum FlashVideoWalk {
    private static let tagHeaderBytes = 11
    private static let tagTypes: Set<UInt8> = [8, 9, 18]

    /// - Throws: `media.corrupt` when a tag reaches past the end of the file. What is no tag ends the walk: libav finds
    ///   its way through such files.
    package static func check(_ window: ByteWindow) throws {
        // A size of what went before follows the header and each tag.
        var offset = try window.bigEndian(at: 5, bytes: 4) + 4
        while offset < window.size {
            guard try tagTypes.contains(window.byte(at: offset) & 0x1F) else { return }
            if offset + tagHeaderBytes > window.size { throw window.cut }
            let end = try offset + tagHeaderBytes + window.bigEndian(at: offset + 1, bytes: 3)
            if end > window.size { throw window.cut }
            offset = end + 4
        }
    }
}
