package import MediaEngine
import MediaTypes

/// Parses all frames of an MPEG audio file: a truncated MP3 decodes without an error, so only this detects it.
// Bounded throughout: offsets in the file, frames of 14 bits, tags of 33 bits, and a declared count of 32.
package struct MP3Parser: Sendable, Hashable {
    /// Number of audio frames, without one that holds a Xing or VBRI table.
    package private(set) var frames = 0
    /// Header of the first frame.
    package private(set) var header: MPEGAudioHeader?
    /// Frame count declared by a Xing, Info or VBRI table.
    package private(set) var declaredFrames: Int?
    /// Bytes that belong to no frame or tag.
    package private(set) var junkBytes = 0
    /// Those of them before the first frame.
    private var leadBytes = 0
    private var frameBytes = 0
    /// Offset of the end of the last frame; only tags and padding follow.
    package private(set) var end = 0

    private var freeFormatBytes: Int?
    private var freeFormatSearches = 0
    /// Maximum number of free-format searches: junk can match at every byte, and each search reads thousands of bytes.
    private static let freeFormatSearchesMax = 1_000
    /// Whether the previous byte was junk.
    private var isInJunk = false

    /// Parses the file.
    ///
    /// - Throws: `media.corrupt` when the last frame is truncated, frames are missing according to the file's own
    ///   table, or there is too much junk: more than `Limits` allows, or more than frames.
    package static func parse(_ window: ByteWindow) throws -> MP3Parser {
        var parser = MP3Parser()
        var offset = 0
        while offset < window.size { offset = try parser.step(at: offset, of: window) }
        if parser.frames == 0 { throw window.broken("no MPEG audio frame") }
        if parser.junkBytes - parser.leadBytes > parser.frameBytes { throw window.broken("more junk than audio") }
        if let declared = parser.declaredFrames, parser.isTruncated(declared) { throw window.cut }
        return parser
    }

    /// Whether more frames are missing than encoders miscount: LAME excludes its own table's frame from the count,
    /// others include it and frames that they dropped. The file ends with a complete frame, so less than
    /// `Limits.audioMiscountSecondsMax` is lost at most.
    private func isTruncated(_ declared: Int) -> Bool {
        guard let header, frames < declared - 1 else { return false }
        return Double(declared - frames) * Double(header.samples) / Double(header.sampleRate)
            >= Limits.audioMiscountSecondsMax
    }

    /// Skips the frame, tag or junk at an offset and returns the next offset.
    private mutating func step(at offset: Int, of window: ByteWindow) throws -> Int {
        if let frame = try frameLength(at: offset, of: window) {
            if offset + frame > window.size { throw window.cut }
            isInJunk = false
            if frameBytes == 0 { leadBytes = junkBytes }
            frameBytes += frame
            try count(at: offset, of: window)
            end = offset + frame
            return end
        }
        if let tag = try AudioTags.length(at: offset, of: window) {
            // A tag before the first frame that reaches past the end leaves no audio; one after the audio is harmless.
            if offset + tag > window.size, frames == 0 { throw window.cut }
            return offset + tag
        }
        // The last frame may be truncated inside its header.
        if frames > 0, window.size - offset < 4, try window.byte(at: offset) == 0xFF { throw window.cut }
        return try skipJunk(at: offset, of: window)
    }

    private mutating func skipJunk(at offset: Int, of window: ByteWindow) throws -> Int {
        // Zeros are padding, of any length.
        if try window.byte(at: offset) != 0 {
            junkBytes += 1
            isInJunk = true
        }
        if junkBytes > (frames == 0 ? Limits.audioLeadBytesMax : Limits.audioJunkBytesMax) {
            throw window.broken("no MPEG audio frame near \(offset)")
        }
        return offset + 1
    }

    private func header(at offset: Int, of window: ByteWindow) throws -> MPEGAudioHeader? {
        guard offset + 4 <= window.size, try window.byte(at: offset) == 0xFF else { return nil }
        return MPEGAudioHeader(UInt32(try window.bigEndian(at: offset, bytes: 4)))
    }

    /// Length in bytes of the frame at an offset, if one that belongs to this stream begins there.
    private mutating func frameLength(at offset: Int, of window: ByteWindow) throws -> Int? {
        guard let found = try header(at: offset, of: window) else { return nil }
        guard let length = try found.frameBytes ?? freeFormatLength(of: found, at: offset, in: window) else {
            return nil
        }
        // Eleven sync bits occur in any data: at the start and after junk, a second frame has to follow.
        let belongs = header.map { $0.matches(found) } ?? false
        if isInJunk || !belongs {
            guard try isFollowed(found, at: offset + length, of: window) else { return nil }
        }
        return length
    }

    private func isFollowed(_ found: MPEGAudioHeader, at next: Int, of window: ByteWindow) throws -> Bool {
        // Junk can look like a header whose frame would reach past the end.
        if next + 4 > window.size { return next == window.size || frames > 0 && !isInJunk }
        if let following = try header(at: next, of: window) { return following.matches(found) }
        // Accepts the last frame before a tag or padding, and the only frame of a file.
        return try AudioTags.length(at: next, of: window) != nil || window.byte(at: next) == 0
    }

    /// In the free format a frame ends at the next header; all frames have the same length, apart from padding.
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

    /// Whether the first frame is a Xing or Info table, with or without a count.
    private func isTable(in first: MPEGAudioHeader, at offset: Int, of window: ByteWindow) throws -> Bool {
        let mark = try window.characters(at: offset + 4 + first.sideInformationBytes, count: 4)
        return mark == "Xing" || mark == "Info"
    }

    /// The frame count in the first frame's table; nil without a table.
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

/// Parses all frames of an ADTS file (raw AAC).
///
/// Source: ISO/IEC 14496-3, 1.A.2.2.
// Bounded throughout: offsets in the file, frames of 13 bits and tags of 33.
package struct ADTSParser: Sendable, Hashable {
    package private(set) var frames = 0
    /// Bytes that belong to no frame or tag.
    package private(set) var junkBytes = 0
    private var frameBytes = 0
    /// Offset of the end of the last frame; only tags and padding follow.
    package private(set) var end = 0

    /// Parses the file.
    ///
    /// - Throws: `media.corrupt` when the last frame is truncated, or there is too much junk: more than `Limits`
    ///   allows, or more than frames.
    package static func parse(_ window: ByteWindow) throws -> ADTSParser {
        var parser = ADTSParser()
        var offset = 0
        while offset < window.size { offset = try parser.step(at: offset, of: window) }
        if parser.frames == 0 { throw window.broken("no ADTS frame") }
        if parser.junkBytes > parser.frameBytes { throw window.broken("more junk than audio") }
        return parser
    }

    private mutating func step(at offset: Int, of window: ByteWindow) throws -> Int {
        if let length = try Self.frameLength(at: offset, of: window), try isTrusted(offset + length, of: window) {
            if offset + length > window.size { throw window.cut }
            frames += 1
            frameBytes += length
            end = offset + length
            return end
        }
        if let tag = try AudioTags.length(at: offset, of: window) { return offset + tag }
        let first = try window.byte(at: offset)
        if frames > 0, first == 0xFF, window.size - offset < 7 { throw window.cut }
        if first != 0 { junkBytes += 1 }
        if junkBytes > Limits.audioJunkBytesMax { throw window.broken("no ADTS frame near \(offset)") }
        return offset + 1
    }

    /// After junk, twelve sync bits are not sufficient: another frame or tag has to follow.
    private func isTrusted(_ next: Int, of window: ByteWindow) throws -> Bool {
        if junkBytes == 0 || next >= window.size { return true }
        return try Self.frameLength(at: next, of: window) != nil || AudioTags.length(at: next, of: window) != nil
    }

    private static func frameLength(at offset: Int, of window: ByteWindow) throws -> Int? {
        let bytes = Array(try window.bytes(at: offset, count: 7))
        guard bytes.count == 7, bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0, bytes[2] >> 2 & 15 < 13 else { return nil }
        let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5]) >> 5
        return length >= 7 ? length : nil
    }
}

/// Tags before, between and after the frames of an MP3 or ADTS file.
///
/// Sources: id3.org (ID3v1, ID3v2.2 to 2.4), hydrogenaudio's "APEv2 specification", id3.org's "Lyrics3 v2.00".
// Bounded throughout: offsets in the file and in what was read of it; sizes of 28 and 32 bits.
enum AudioTags {
    private static let initials: [UInt8] = [0x49, 0x54, 0x41, 0x4C]

    /// Length in bytes of the tag at an offset; nil if none begins there.
    static func length(at offset: Int, of window: ByteWindow) throws -> Int? {
        // Called for every byte of padding, so the first byte is checked before more are read.
        guard let first = try window.bytes(at: offset, count: 1).first, initials.contains(first) else { return nil }
        let bytes = Array(try window.bytes(at: offset, count: 32))
        if bytes.starts(with: Array("ID3".utf8)) { return id3(bytes) }
        if bytes.starts(with: Array("TAG".utf8)), offset + 128 <= window.size { return 128 }
        if bytes.starts(with: Array("APETAGEX".utf8)) { return ape(bytes) }
        if bytes.starts(with: Array("LYRICSBEGIN".utf8)) { return try lyrics(at: offset, of: window) }
        return nil
    }

    /// Size in four groups of seven bits, plus a 10-byte header, plus a 10-byte footer if its flag is set.
    private static func id3(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 10, bytes[3] != 0xFF, bytes[4] != 0xFF, bytes[6..<10].allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let size = bytes[6..<10].reduce(0) { $0 << 7 | Int($1) }
        return 10 + size + (bytes[5] & 0x10 != 0 ? 10 : 0)
    }

    /// The size field includes items and footer, but not the header.
    private static func ape(_ bytes: [UInt8]) -> Int? {
        guard bytes.count == 32 else { return nil }
        let size = bytes[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
        let isHeader = bytes[23] & 0x20 != 0
        return isHeader ? 32 + size : 32
    }

    /// Lyrics declare their length only at their end, so the end marker is searched for in 32,768 bytes. The search
    /// stops at a second start marker, which prevents quadratic time on files that consist of start markers.
    private static func lyrics(at offset: Int, of window: ByteWindow) throws -> Int? {
        let text = try window.bytes(at: offset, count: 32_768)
        let word = Array("LYRICS".utf8)
        var index = text.startIndex + word.count
        while let next = text[index...].firstIndex(of: word[0]), next + 9 <= text.endIndex {
            index = next + 1
            guard text[next..<next + word.count].elementsEqual(word) else { continue }
            let rest = String(decoding: text[next + word.count..<next + 9], as: UTF8.self)
            if rest == "200" || rest == "END" { return next + 9 - text.startIndex }
            if rest == "BEG" { return nil }
        }
        return nil
    }
}

extension Limits {
    /// Tags, padding and a few damaged frames between the frames of an MP3; a file with more is not valid MP3.
    static let audioJunkBytesMax = 131_072
    /// Junk before the first frame: the cover art of an ID3 tag with a wrong size.
    static let audioLeadBytesMax = 2_000_000
    /// Seconds by which an MP3 may be shorter than its frame count says: not audible, and often a wrong count.
    static let audioMiscountSecondsMax = 0.1
}
