import MediaEngine
import MediaTypes

/// A container detected by its first bytes, with the check that it is complete. Ambiguous formats are not detected.
enum MediaContainer: Sendable, Hashable {
    case isoBaseMedia, avi, wave, aiff, matroska, programStream, ogg, windowsMedia, flashVideo
    /// A known magic number of a format whose length libav checks itself.
    case other

    init?(_ window: ByteWindow) throws {
        let head = try window.characters(at: 0, count: 12)
        func part(_ from: Int) -> String { String(head.dropFirst(from).prefix(4)) }
        switch (part(0), part(4), part(8)) {
        case ("RIFF", _, "AVI "): self = .avi
        case ("RIFF", _, "WAVE"), ("RIFX", _, "WAVE"), ("RF64", _, "WAVE"), ("BW64", _, "WAVE"): self = .wave
        case ("FORM", _, "AIFF"), ("FORM", _, "AIFC"): self = .aiff
        case ("\u{1A}\u{45}\u{DF}\u{A3}", _, _): self = .matroska
        case ("\u{0}\u{0}\u{1}\u{BA}", _, _): self = .programStream
        case ("OggS", _, _): self = .ogg
        case ("\u{30}\u{26}\u{B2}\u{75}", _, _): self = .windowsMedia
        case ("FLV\u{1}", _, _): self = .flashVideo
        case (let magic, _, _) where Self.otherMagics.contains(magic): self = .other
        case (_, let type, _) where Self.firstBoxes.contains(type): self = .isoBaseMedia
        default: return nil
        }
    }

    private static let firstBoxes: Set<String> = [
        "ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "moof", "styp",
    ]

    /// FLAC, Core Audio, Sun audio, AMR, WavPack, True Audio, Wave64.
    private static let otherMagics: Set<String> = ["fLaC", "caff", ".snd", "#!AM", "wvpk", "TTA1", "riff"]

    /// Checks the container's structure.
    ///
    /// - Returns: The boxes of ISO base media, and a defect outside of the streams.
    /// - Throws: `media.corrupt` when the file is shorter than it declares.
    func check(_ window: ByteWindow) throws -> (boxes: ISOBoxParser?, defect: ContainerDefect?) {
        switch self {
        case .isoBaseMedia:
            let boxes = try ISOBoxParser.parse(window)
            if boxes.mediaDataExceedsFile { return (boxes, .mediaDataExceedsFile) }
            if boxes.hasTrailingData { return (boxes, .trailingData) }
            return (boxes, boxes.hasFragments ? .fragmented : nil)
        case .avi: try AVIValidator.check(window)
        case .wave: return (nil, try WaveParser.parse(window).openChunk == nil ? nil : .samplesNotCounted)
        case .aiff: try AIFFValidator.check(window)
        case .matroska: try MatroskaValidator.check(window)
        case .programStream: try MPEGProgramStreamValidator.check(window)
        case .ogg: try OggValidator.check(window)
        case .windowsMedia: try ASFValidator.check(window)
        case .flashVideo: try FlashVideoValidator.check(window)
        case .other: break
        }
        return (nil, nil)
    }
}

/// Checks the two top-level elements of a Matroska or WebM file: the segment must end inside the file.
///
/// Source: RFC 8794 (EBML), 4 and 6.2; RFC 9559 (Matroska), 4.
// Bounded throughout: offsets in the file, and sizes of 56 bits: parsing ends after an element that is larger.
package enum MatroskaValidator {
    private static let header = 0x1A45_DFA3
    private static let segment = 0x1853_8067

    /// - Throws: `media.corrupt` when the segment declares more bytes than the file has. A segment of unknown size, as
    ///   written by live recorders, is accepted.
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

    /// A variable-length integer; nil if all bits are ones, which means "unknown".
    private static func dataSize(at offset: Int, of window: ByteWindow) throws -> (size: Int?, length: Int) {
        let first = try window.byte(at: offset)
        let length = first.leadingZeroBitCount + 1
        if length > 8 { throw window.broken("element size at \(offset)") }
        let value = try window.bigEndian(at: offset, bytes: length)
        let mask = (1 << (7 * length)) - 1
        return (value & mask == mask ? nil : value & mask, length)
    }
}

/// Checks the top-level objects of a Windows Media file: they must end inside the file.
///
/// Source: Microsoft, "Advanced Systems Format Specification 01.20.05", 2.1 and 3.
// Bounded throughout: offsets in the file; a size is compared with what is left of it before it is added.
package enum ASFValidator {
    /// - Throws: `media.corrupt` when an object reaches past the end of the file. A broadcast with sizes of 0 is
    ///   accepted.
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

/// Checks the tags of a Flash video: the last one must be complete.
///
/// Source: Adobe, "Video File Format Specification 10.1", E.2 to E.4.
// Bounded throughout: offsets in the file, and sizes of at most 32 bits.
package enum FlashVideoValidator {
    private static let tagHeaderBytes = 11
    private static let tagTypes: Set<UInt8> = [8, 9, 18]

    /// - Throws: `media.corrupt` when a tag reaches past the end of the file. An unknown tag ends the check: libav
    ///   resynchronizes in such files.
    package static func check(_ window: ByteWindow) throws {
        // The header and each tag are followed by the size of the previous tag.
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

/// Checks the pages of an Ogg file: the last one must be complete.
///
/// Source: RFC 3533, 6.
// Bounded throughout: offsets in the file, and pages of 16 bits.
package enum OggValidator {
    /// - Throws: `media.corrupt` when a page reaches past the end of the file.
    package static func check(_ window: ByteWindow) throws {
        var offset = 0
        var junk = 0
        while offset + 4 <= window.size {
            guard try window.byte(at: offset) == 0x4F, try window.characters(at: offset, count: 4) == "OggS" else {
                offset += 1
                junk += 1
                if junk > Limits.audioJunkBytesMax { throw window.broken("no Ogg page near \(offset)") }
                continue
            }
            let segments = Int(try window.byte(at: offset + 26))
            let body = try window.whole(at: offset + 27, count: segments).reduce(0) { $0 + Int($1) }
            offset += 27 + segments + body
        }
        if offset > window.size { throw window.cut }
    }
}
