import MediaEngine
import RichPush

/// A container by its first bytes, with the walk that proves it whole. Only those whose bytes leave no doubt.
enum Container: Sendable, Hashable {
    case isoBaseMedia, avi, wave, aiff, matroska, programStream, ogg, windowsMedia, flashVideo
    /// A magic number we know, of a format that libav itself counts through.
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
    private static let otherMagics: Set<String> = [
        "fLaC", "caff", ".snd", "#!AM", "wvpk", "TTA1", "riff",
    ]

    /// What the walk found out: boxes for ISO base media, and what is wrong around the streams.
    ///
    /// - Throws: `media.corrupt` when the file does not hold what it declares.
    func check(_ window: ByteWindow) throws -> (boxes: BoxWalk?, fault: ContainerFault?) {
        switch self {
        case .isoBaseMedia:
            let boxes = try BoxWalk.walk(window)
            return (boxes, boxes.mediaDataExceedsFile ? .mediaDataExceedsFile : nil)
        case .avi: try AVIWalk.check(window)
        case .wave: return (nil, try WaveWalk.walk(window).openChunk == nil ? nil : .samplesNotCounted)
        case .aiff: try AIFFWalk.check(window)
        case .matroska: try SegmentWalk.check(window)
        case .programStream: try ProgramStreamWalk.check(window)
        case .ogg: try OggWalk.check(window)
        case .windowsMedia: try ASFWalk.check(window)
        case .flashVideo: try FlashVideoWalk.check(window)
        case .other: break
        }
        return (nil, nil)
    }
}
