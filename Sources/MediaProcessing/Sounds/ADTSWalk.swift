import RichPush

/// The frames of an ADTS file (raw AAC), walked to the end.
///
/// Source: ISO/IEC 14496-3, 1.A.2.2.
// Bounded throughout: places in the file, frames of 13 bits and tags of 33.
package struct ADTSWalk: Sendable, Hashable {
    package private(set) var frames = 0
    /// Bytes that are neither frame nor tag.
    package private(set) var junkBytes = 0

    /// Walks the file.
    ///
    /// - Throws: `media.corrupt` when the last frame is cut, or there is too much between the frames.
    package static func walk(_ window: ByteWindow) throws -> ADTSWalk {
        var walk = ADTSWalk()
        var offset = 0
        while offset < window.size { offset = try walk.step(at: offset, of: window) }
        if walk.frames == 0 { throw window.broken("no ADTS frame") }
        return walk
    }

    private mutating func step(at offset: Int, of window: ByteWindow) throws -> Int {
        if let length = try Self.frameLength(at: offset, of: window), try isTrusted(offset + length, of: window) {
            if offset + length > window.size { throw window.cut }
            frames += 1
            return offset + length
        }
        if let tag = try SoundTags.length(at: offset, of: window) { return offset + tag }
        let first = try window.byte(at: offset)
        if frames > 0, first == 0xFF, window.size - offset < 7 { throw window.cut }
        if first != 0 { junkBytes += 1 }
        if junkBytes > Limits.soundJunkBytesMax { throw window.broken("no ADTS frame near \(offset)") }
        return offset + 1
    }

    /// Once junk was seen, twelve bits of sync are not enough: another frame has to follow.
    private func isTrusted(_ next: Int, of window: ByteWindow) throws -> Bool {
        if junkBytes == 0 || next >= window.size { return true }
        return try Self.frameLength(at: next, of: window) != nil || SoundTags.length(at: next, of: window) != nil
    }

    private static func frameLength(at offset: Int, of window: ByteWindow) throws -> Int? {
        let bytes = Array(try window.bytes(at: offset, count: 7))
        guard bytes.count == 7, bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0, bytes[2] >> 2 & 15 < 13 else { return nil }
        let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5]) >> 5
        return length >= 7 ? length : nil
    }
}
