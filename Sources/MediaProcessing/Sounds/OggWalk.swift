import RichPush

/// The pages of an Ogg file: that the last one is whole.
///
/// Source: RFC 3533, 6.
// Bounded throughout: places in the file, and pages of 16 bits.
package enum OggWalk {
    /// - Throws: `media.corrupt` when a page reaches past the end of the file.
    package static func check(_ window: ByteWindow) throws {
        var offset = 0
        var junk = 0
        while offset + 4 <= window.size {
            guard try window.byte(at: offset) == 0x4F, try window.characters(at: offset, count: 4) == "OggS" else {
                offset += 1
                junk += 1
                if junk > Limits.soundJunkBytesMax { throw window.broken("no Ogg page near \(offset)") }
                continue
            }
            let segments = Int(try window.byte(at: offset + 26))
            let body = try window.whole(at: offset + 27, count: segments).reduce(0) { $0 + Int($1) }
            offset += 27 + segments + body
        }
        if offset > window.size { throw window.cut }
    }
}
