/// A recognized media format, whether or not iOS accepts it; detected from the content, not from the file name.
public enum MediaFormat: String, Codable, Sendable, Hashable, CaseIterable {
    // Images
    case jpeg, png, gif, webp, heic, heif, avif, tiff, bmp, icon, jpeg2000, jpegXL, svg
    // Audio
    case aiff, aifc, wave, mp3, mpeg4Audio, aac, mp2, ac3, eac3, amr, au, caf, flac, vorbis, opus, speex
    case windowsMediaAudio, wavPack, trueAudio, wave64, matroskaAudio, quickTimeAudio, threeGPPAudio
    // Audio that is recognized but not decoded
    case dts, midi
    // Movies
    case mpegProgramStream, mpeg1Video, mpeg2Video, mpeg4, avi
    case quickTime, m4v, threeGPP, threeGPP2, webm, matroska, mpegTransportStream, flashVideo, windowsMedia, oggVideo
    // Movies that are recognized but not decoded
    case mxf, digitalVideo, flash

    /// How a notification shows the format.
    public var kind: MediaKind { row.kind }

    /// The MIME type that manifests report.
    public var mimeType: String { row.mimeType }

    /// The attachable type; nil when the format is not one of the eleven that Apple documents.
    public var attachmentType: AttachmentType? { row.attachmentType }

    /// Whether media processes can decode the format.
    public var isDecodable: Bool { !Self.notDecodable.contains(self) }

    private static let notDecodable: Set<MediaFormat> = [
        .midi, .mxf, .digitalVideo, .flash, .dts,
    ]

    private struct Row {
        let kind: MediaKind
        let mimeType: String
        let attachmentType: AttachmentType?

        init(_ kind: MediaKind, _ mimeType: String, _ attachmentType: AttachmentType? = nil) {
            self.kind = kind
            self.mimeType = mimeType
            self.attachmentType = attachmentType
        }
    }

    private var row: Row {
        switch self {
        case .jpeg: Row(.image, "image/jpeg", .jpeg)
        case .png: Row(.image, "image/png", .png)
        case .gif: Row(.image, "image/gif", .gif)
        case .webp: Row(.image, "image/webp")
        case .heic: Row(.image, "image/heic")
        case .heif: Row(.image, "image/heif")
        case .avif: Row(.image, "image/avif")
        case .tiff: Row(.image, "image/tiff")
        case .bmp: Row(.image, "image/bmp")
        case .svg: Row(.image, "image/svg+xml")
        case .icon: Row(.image, "image/vnd.microsoft.icon")
        case .jpeg2000: Row(.image, "image/jp2")
        case .jpegXL: Row(.image, "image/jxl")
        case .aiff: Row(.audio, "audio/aiff", .aiff)
        case .aifc: Row(.audio, "audio/x-aifc")
        case .wave: Row(.audio, "audio/wav", .wave)
        case .mp3: Row(.audio, "audio/mpeg", .mp3)
        case .mpeg4Audio: Row(.audio, "audio/mp4", .mpeg4Audio)
        case .aac: Row(.audio, "audio/aac")
        case .mp2: Row(.audio, "audio/mpeg")
        case .ac3: Row(.audio, "audio/ac3")
        case .eac3: Row(.audio, "audio/eac3")
        case .amr: Row(.audio, "audio/amr")
        case .au: Row(.audio, "audio/basic")
        case .caf: Row(.audio, "audio/x-caf")
        case .flac: Row(.audio, "audio/flac")
        case .vorbis: Row(.audio, "audio/ogg")
        case .opus: Row(.audio, "audio/opus")
        case .speex: Row(.audio, "audio/speex")
        case .windowsMediaAudio: Row(.audio, "audio/x-ms-wma")
        case .wavPack: Row(.audio, "audio/x-wavpack")
        case .trueAudio: Row(.audio, "audio/x-tta")
        case .wave64: Row(.audio, "audio/x-w64")
        case .matroskaAudio: Row(.audio, "audio/x-matroska")
        case .quickTimeAudio: Row(.audio, "audio/quicktime")
        case .threeGPPAudio: Row(.audio, "audio/3gpp")
        case .dts: Row(.audio, "audio/vnd.dts")
        case .midi: Row(.audio, "audio/midi")
        case .mpegProgramStream: Row(.movie, "video/mpeg", .mpeg)
        case .mpeg1Video: Row(.movie, "video/mpeg", .mpeg)
        case .mpeg2Video: Row(.movie, "video/mpeg", .mpeg2Video)
        case .mpeg4: Row(.movie, "video/mp4", .mpeg4)
        case .avi: Row(.movie, "video/x-msvideo", .avi)
        case .quickTime: Row(.movie, "video/quicktime")
        case .m4v: Row(.movie, "video/x-m4v")
        case .threeGPP: Row(.movie, "video/3gpp")
        case .threeGPP2: Row(.movie, "video/3gpp2")
        case .webm: Row(.movie, "video/webm")
        case .matroska: Row(.movie, "video/x-matroska")
        case .mpegTransportStream: Row(.movie, "video/mp2t")
        case .flashVideo: Row(.movie, "video/x-flv")
        case .windowsMedia: Row(.movie, "video/x-ms-wmv")
        case .oggVideo: Row(.movie, "video/ogg")
        case .mxf: Row(.movie, "application/mxf")
        case .digitalVideo: Row(.movie, "video/x-dv")
        case .flash: Row(.movie, "application/x-shockwave-flash")
        }
    }
}
