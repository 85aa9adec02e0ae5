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
    public var mimeType: String { String(row.mime.prefix { $0 != " " }) }

    /// The attachable type; nil when the format is not one of the eleven that Apple documents.
    public var attachmentType: AttachmentType? { row.attachment }

    /// Whether media processes can decode the format.
    public var isDecodable: Bool { !Self.notDecodable.contains(self) }

    private static let notDecodable: Set<MediaFormat> = [
        .midi, .mxf, .digitalVideo, .flash, .dts,
    ]

    /// All MIME types, beginning with `mimeType`.
    package var mimeTypes: [Substring] { row.mime.split(separator: " ") }

    /// Its file extensions, and keywords of Home Assistant, in lowercase; the most usual one first.
    package var names: [Substring] { row.names.split(separator: " ") }

    /// Its uniform type identifiers: those of Apple's table, others that iOS accepts, and types that it drops.
    package var identifiers: [Substring] { row.uti.split(separator: " ") }

    /// What is known of a format; MIME types, names and UTIs are separated by spaces.
    private struct Row {
        let kind: MediaKind
        let mime: String
        let names: String
        let uti: String
        let attachment: AttachmentType?

        init(
            _ kind: MediaKind, _ mime: String, _ names: String = "", _ uti: String = "",
            _ attachment: AttachmentType? = nil
        ) {
            (self.kind, self.mime, self.names, self.uti, self.attachment) = (kind, mime, names, uti, attachment)
        }
    }

    private var row: Row {
        switch self {
        case .jpeg: Row(.image, "image/jpeg image/jpg image/pjpeg image/jpe", "jpg jpeg jpe jfif", "public.jpeg", .jpeg)
        case .png:
            Row(.image, "image/png image/x-png image/apng image/vnd.mozilla.apng", "png apng", "public.png", .png)
        case .gif: Row(.image, "image/gif", "gif", "com.compuserve.gif", .gif)
        case .webp: Row(.image, "image/webp", "webp", "org.webmproject.webp public.webp")
        case .heic: Row(.image, "image/heic image/heic-sequence", "heic heics", "public.heic public.heics")
        case .heif: Row(.image, "image/heif image/heif-sequence", "heif heifs hif", "public.heif public.heifs")
        case .avif: Row(.image, "image/avif", "avif avifs", "public.avif")
        case .tiff: Row(.image, "image/tiff image/tif", "tif tiff", "public.tiff")
        case .bmp: Row(.image, "image/bmp image/x-ms-bmp image/x-bmp", "bmp dib", "com.microsoft.bmp")
        case .svg: Row(.image, "image/svg+xml image/svg", "svg svgz", "public.svg-image")
        case .icon: Row(.image, "image/vnd.microsoft.icon image/x-icon", "ico", "com.microsoft.ico")
        case .jpeg2000: Row(.image, "image/jp2", "jp2 j2k", "public.jpeg-2000")
        case .jpegXL: Row(.image, "image/jxl", "jxl", "public.jpeg-xl")
        case .aiff: Row(.audio, "audio/aiff audio/x-aiff", "aiff aif", "public.aiff-audio", .aiff)
        case .aifc: Row(.audio, "audio/x-aifc audio/aifc", "aifc", "public.aifc-audio")
        case .wave:
            Row(
                .audio, "audio/wav audio/x-wav audio/wave audio/vnd.wave",
                "wav wave waveformaudio", "com.microsoft.waveform-audio", .wave)
        case .mp3: Row(.audio, "audio/mpeg audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg", "mp3", "public.mp3", .mp3)
        case .mpeg4Audio:
            Row(
                .audio, "audio/mp4 audio/m4a audio/x-m4a audio/mp4a-latm",
                "m4a m4b m4r mpeg4audio", "public.mpeg-4-audio com.apple.m4a-audio", .mpeg4Audio)
        case .aac: Row(.audio, "audio/aac audio/x-aac audio/aacp", "aac adts", "public.aac-audio")
        case .mp2: Row(.audio, "audio/mpeg", "mp2", "public.mp2")
        case .ac3: Row(.audio, "audio/ac3", "ac3", "public.ac3-audio")
        case .eac3: Row(.audio, "audio/eac3", "eac3 ec3", "public.enhanced-ac3-audio")
        case .amr: Row(.audio, "audio/amr", "amr", "org.3gpp.adaptive-multi-rate-audio")
        case .au: Row(.audio, "audio/basic", "au snd", "public.au-audio public.ulaw-audio")
        case .caf: Row(.audio, "audio/x-caf audio/caf", "caf", "com.apple.coreaudio-format")
        case .flac: Row(.audio, "audio/flac audio/x-flac", "flac", "org.xiph.flac")
        case .vorbis: Row(.audio, "audio/ogg application/ogg audio/vorbis audio/x-ogg", "ogg oga", "org.xiph.ogg-audio")
        case .opus: Row(.audio, "audio/opus", "opus", "org.xiph.opus")
        case .speex: Row(.audio, "audio/speex", "spx")
        case .windowsMediaAudio: Row(.audio, "audio/x-ms-wma", "wma")
        case .wavPack: Row(.audio, "audio/x-wavpack", "wv")
        case .trueAudio: Row(.audio, "audio/x-tta", "tta")
        case .wave64: Row(.audio, "audio/x-w64", "w64")
        case .matroskaAudio: Row(.audio, "audio/x-matroska", "mka")
        case .quickTimeAudio: Row(.audio, "audio/quicktime")
        case .threeGPPAudio: Row(.audio, "audio/3gpp")
        case .dts: Row(.audio, "audio/vnd.dts", "dts")
        case .midi: Row(.audio, "audio/midi audio/x-midi", "mid midi", "public.midi-audio")
        case .mpegProgramStream:
            Row(.movie, "video/mpeg video/mpg video/x-mpeg", "mpg mpeg mpe vob", "public.mpeg", .mpeg)
        case .mpeg1Video: Row(.movie, "video/mpeg", "m1v", "", .mpeg)
        case .mpeg2Video:
            Row(.movie, "video/mpeg video/mpeg2 video/x-mpeg2", "m2v mpeg2", "public.mpeg-2-video", .mpeg2Video)
        case .mpeg4: Row(.movie, "video/mp4 video/x-mp4 application/mp4", "mp4 mpeg4", "public.mpeg-4", .mpeg4)
        case .avi: Row(.movie, "video/x-msvideo video/avi video/msvideo video/vnd.avi", "avi", "public.avi", .avi)
        case .quickTime: Row(.movie, "video/quicktime video/mov", "mov qt", "com.apple.quicktime-movie")
        case .m4v: Row(.movie, "video/x-m4v", "m4v", "com.apple.m4v-video")
        case .threeGPP: Row(.movie, "video/3gpp", "3gp 3gpp", "public.3gpp")
        case .threeGPP2: Row(.movie, "video/3gpp2", "3g2", "public.3gpp2")
        case .webm: Row(.movie, "video/webm", "webm", "org.webmproject.webm")
        case .matroska: Row(.movie, "video/x-matroska video/mkv", "mkv", "org.matroska.mkv")
        case .mpegTransportStream: Row(.movie, "video/mp2t", "ts m2ts mts", "public.mpeg-2-transport-stream")
        case .flashVideo: Row(.movie, "video/x-flv", "flv")
        case .windowsMedia: Row(.movie, "video/x-ms-wmv video/x-ms-asf", "wmv asf", "com.microsoft.windows-media-wmv")
        case .oggVideo: Row(.movie, "video/ogg", "ogv", "org.xiph.ogg-video")
        case .mxf: Row(.movie, "application/mxf", "mxf")
        case .digitalVideo: Row(.movie, "video/x-dv", "dv")
        case .flash: Row(.movie, "application/x-shockwave-flash", "swf")
        }
    }
}
