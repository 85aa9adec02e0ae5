import RichPush

/// The frames of an MPEG audio file, walked to the end: a cut MP3 decodes without an error, so nothing else tells.
// Bounded throughout: places in the file, frames of 14 bits, tags of 33 bits, and a declared count of 32.
package struct MP3Walk: Sendable, Hashable {
    /// Frames of sound; the one that holds a Xing or VBRI table is none.
    package private(set) var frames = 0
    /// Of the first frame.
    package private(set) var header: MPEGAudioHeader?
    /// Frames that a Xing, Info or VBRI table declares.
    package private(set) var declaredFrames: Int?
    /// Bytes that are neither frame nor tag.
    package private(set) var junkBytes = 0

    private var freeFormatBytes: Int?
    private var freeFormatSearches = 0
    /// Junk may look like the free format at every byte, and each search reads thousands of bytes.
    private static let freeFormatSearchesMax = 1_000
    /// Whether the byte before was junk.
    private var isInJunk = false

    /// Walks the file.
    ///
    /// - Throws: `media.corrupt` when the last frame is cut, frames are missing by the file's own table, or there is
    ///   too much between the frames.
    package static func walk(_ window: ByteWindow) throws -> MP3Walk {
        var walk = MP3Walk()
        var offset = 0
        while offset < window.size { offset = try walk.step(at: offset, of: window) }
        if walk.frames == 0 { throw window.broken("no MPEG audio frame") }
        // LAME counts its own table's frame out, others count it in.
        if let declared = walk.declaredFrames, walk.frames < declared - 1 { throw window.cut }
        return walk
    }

    /// Steps over the frame, tag or junk at an offset.
    private mutating func step(at offset: Int, of window: ByteWindow) throws -> Int {
        if let frame = try frameLength(at: offset, of: window) {
            if offset + frame > window.size { throw window.cut }
            isInJunk = false
            try count(at: offset, of: window)
            return offset + frame
        }
        if let tag = try SoundTags.length(at: offset, of: window) {
            // A tag in front that reaches past the end leaves no sound; one behind harms none.
            if offset + tag > window.size, frames == 0 { throw window.cut }
            return offset + tag
        }
        // A last frame may be cut inside its header.
        if frames > 0, window.size - offset < 4, try window.byte(at: offset) == 0xFF { throw window.cut }
        return try skipJunk(at: offset, of: window)
    }

    private mutating func skipJunk(at offset: Int, of window: ByteWindow) throws -> Int {
        // Zeros are padding, however many.
        if try window.byte(at: offset) != 0 {
            junkBytes += 1
            isInJunk = true
        }
        if junkBytes > (frames == 0 ? Limits.soundLeadBytesMax : Limits.soundJunkBytesMax) {
            throw window.broken("no MPEG audio frame near \(offset)")
        }
        return offset + 1
    }

    private func header(at offset: Int, of window: ByteWindow) throws -> MPEGAudioHeader? {
        guard offset + 4 <= window.size, try window.byte(at: offset) == 0xFF else { return nil }
        return MPEGAudioHeader(UInt32(try window.bigEndian(at: offset, bytes: 4)))
    }

    /// Bytes of the frame at an offset, when there is one that belongs to this stream.
    private mutating func frameLength(at offset: Int, of window: ByteWindow) throws -> Int? {
        guard let found = try header(at: offset, of: window) else { return nil }
        guard let length = try found.frameBytes ?? freeFormatLength(of: found, at: offset, in: window) else {
            return nil
        }
        // Eleven bits of sync are in any picture or text: before trust is won, a second frame has to follow.
        let belongs = header.map { $0.matches(found) } ?? false
        if isInJunk || !belongs {
            guard try isFollowed(found, at: offset + length, of: window) else { return nil }
        }
        return length
    }

    private func isFollowed(_ found: MPEGAudioHeader, at next: Int, of window: ByteWindow) throws -> Bool {
        // Junk that looks like a header, and whose frame would reach past the end, is junk.
        if next + 4 > window.size { return next == window.size || frames > 0 && !isInJunk }
        if let following = try header(at: next, of: window) { return following.matches(found) }
        // The last frame before a tag or padding; also a first one, in files of a single frame.
        return try SoundTags.length(at: next, of: window) != nil || window.byte(at: next) == 0
    }

    /// In the free format a frame ends where the next header stands; all are of the same length but for padding.
    private mutating func freeFormatLength(
        of found: MPEGAudioHeader, at offset: Int, in window: ByteWindow
    ) throws -> Int? {
        if let freeFormatBytes { return freeFormatBytes + found.paddingBytes }
        freeFormatSearches += 1
        if freeFormatSearches > Self.freeFormatSearchesMax { return nil }
        for length in stride(from: 24, through: 8192, by: 1) where offset + length + 4 <= window.size {
            guard try window.byte(at: offset + length) == 0xFF, let next = try header(at: offset + length, of: window),
                next.bitRate == nil, next.matches(found), next.isMono == found.isMono
            else { continue }
            freeFormatBytes = length - found.paddingBytes
            return length
        }
        return nil
    }

    private mutating func count(at offset: Int, of window: ByteWindow) throws {
        if header == nil, let first = try header(at: offset, of: window) {
            header = first
            declaredFrames = try declaration(in: first, at: offset, of: window)
            if declaredFrames != nil { return }
            if try isTable(in: first, at: offset, of: window) { return }
        }
        frames += 1
    }

    /// Whether the first frame is a Xing or Info table, be it one without a count.
    private func isTable(in first: MPEGAudioHeader, at offset: Int, of window: ByteWindow) throws -> Bool {
        let mark = try window.characters(at: offset + 4 + first.sideInformationBytes, count: 4)
        return mark == "Xing" || mark == "Info"
    }

    /// The number of frames in the table of the first frame, if it is one.
    private func declaration(in first: MPEGAudioHeader, at offset: Int, of window: ByteWindow) throws -> Int? {
        guard first.layer == 3 else { return nil }
        let xing = offset + 4 + first.sideInformationBytes
        if try isTable(in: first, at: offset, of: window) {
            let holdsFrames = try window.bigEndian(at: xing + 4, bytes: 4) & 1 != 0
            return holdsFrames ? try window.bigEndian(at: xing + 8, bytes: 4) : nil
        }
        let vbri = offset + 36
        if try window.characters(at: vbri, count: 4) == "VBRI" { return try window.bigEndian(at: vbri + 14, bytes: 4) }
        return nil
    }
}
