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

    /// What is known of a format; names are separated by spaces.
    private struct Row {
        let kind: MediaKind
        let mime: String
        let names: String
        let uti: String
        let attachment: AttachmentType?

        init(
            _ kind: MediaKind, mime: String, names: String = "", uti: String = "", attachment: AttachmentType? = nil
        ) {
            (self.kind, self.mime, self.names, self.uti, self.attachment) = (kind, mime, names, uti, attachment)
        }
    }

    private var row: Row {
        switch self {
        case .jpeg:
            Row(
                .image, mime: "image/jpeg image/jpg image/pjpeg image/jpe", names: "jpg jpeg jpe jfif",
                uti: "public.jpeg", attachment: .jpeg)
        case .png:
            Row(
                .image, mime: "image/png image/x-png image/apng image/vnd.mozilla.apng", names: "png apng",
                uti: "public.png", attachment: .png)
        case .gif: Row(.image, mime: "image/gif", names: "gif", uti: "com.compuserve.gif", attachment: .gif)
        case .webp: Row(.image, mime: "image/webp", names: "webp", uti: "org.webmproject.webp public.webp")
        case .heic:
            Row(.image, mime: "image/heic image/heic-sequence", names: "heic heics", uti: "public.heic public.heics")
        case .heif:
            Row(
                .image, mime: "image/heif image/heif-sequence", names: "heif heifs hif",
                uti: "public.heif public.heifs")
        case .avif: Row(.image, mime: "image/avif", names: "avif avifs", uti: "public.avif")
        case .tiff: Row(.image, mime: "image/tiff image/tif", names: "tif tiff", uti: "public.tiff")
        case .bmp: Row(.image, mime: "image/bmp image/x-ms-bmp image/x-bmp", names: "bmp dib", uti: "com.microsoft.bmp")
        case .svg: Row(.image, mime: "image/svg+xml image/svg", names: "svg svgz", uti: "public.svg-image")
        case .icon: Row(.image, mime: "image/vnd.microsoft.icon image/x-icon", names: "ico", uti: "com.microsoft.ico")
        case .jpeg2000: Row(.image, mime: "image/jp2", names: "jp2 j2k", uti: "public.jpeg-2000")
        case .jpegXL: Row(.image, mime: "image/jxl", names: "jxl", uti: "public.jpeg-xl")
        case .aiff:
            Row(.audio, mime: "audio/aiff audio/x-aiff", names: "aiff aif", uti: "public.aiff-audio", attachment: .aiff)
        case .aifc: Row(.audio, mime: "audio/x-aifc audio/aifc", names: "aifc", uti: "public.aifc-audio")
        case .wave:
            Row(
                .audio, mime: "audio/wav audio/x-wav audio/wave audio/vnd.wave", names: "wav wave waveformaudio",
                uti: "com.microsoft.waveform-audio", attachment: .wave)
        case .mp3:
            Row(
                .audio, mime: "audio/mpeg audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg", names: "mp3",
                uti: "public.mp3", attachment: .mp3)
        case .mpeg4Audio:
            Row(
                .audio, mime: "audio/mp4 audio/m4a audio/x-m4a audio/mp4a-latm", names: "m4a m4b m4r mpeg4audio",
                uti: "public.mpeg-4-audio com.apple.m4a-audio", attachment: .mpeg4Audio)
        case .aac: Row(.audio, mime: "audio/aac audio/x-aac audio/aacp", names: "aac adts", uti: "public.aac-audio")
        case .mp2: Row(.audio, mime: "audio/mpeg", names: "mp2", uti: "public.mp2")
        case .ac3: Row(.audio, mime: "audio/ac3", names: "ac3", uti: "public.ac3-audio")
        case .eac3: Row(.audio, mime: "audio/eac3", names: "eac3 ec3", uti: "public.enhanced-ac3-audio")
        case .amr: Row(.audio, mime: "audio/amr", names: "amr", uti: "org.3gpp.adaptive-multi-rate-audio")
        case .au: Row(.audio, mime: "audio/basic", names: "au snd", uti: "public.au-audio public.ulaw-audio")
        case .caf: Row(.audio, mime: "audio/x-caf audio/caf", names: "caf", uti: "com.apple.coreaudio-format")
        case .flac: Row(.audio, mime: "audio/flac audio/x-flac", names: "flac", uti: "org.xiph.flac")
        case .vorbis:
            Row(
                .audio, mime: "audio/ogg application/ogg audio/vorbis audio/x-ogg", names: "ogg oga",
                uti: "org.xiph.ogg-audio")
        case .opus: Row(.audio, mime: "audio/opus", names: "opus", uti: "org.xiph.opus")
        case .speex: Row(.audio, mime: "audio/speex", names: "spx")
        case .windowsMediaAudio: Row(.audio, mime: "audio/x-ms-wma", names: "wma")
        case .wavPack: Row(.audio, mime: "audio/x-wavpack", names: "wv")
        case .trueAudio: Row(.audio, mime: "audio/x-tta", names: "tta")
        case .wave64: Row(.audio, mime: "audio/x-w64", names: "w64")
        case .matroskaAudio: Row(.audio, mime: "audio/x-matroska", names: "mka")
        case .quickTimeAudio: Row(.audio, mime: "audio/quicktime")
        case .threeGPPAudio: Row(.audio, mime: "audio/3gpp")
        case .dts: Row(.audio, mime: "audio/vnd.dts", names: "dts")
        case .midi: Row(.audio, mime: "audio/midi audio/x-midi", names: "mid midi", uti: "public.midi-audio")
        case .mpegProgramStream:
            Row(
                .movie, mime: "video/mpeg video/mpg video/x-mpeg", names: "mpg mpeg mpe vob", uti: "public.mpeg",
                attachment: .mpeg)
        case .mpeg1Video: Row(.movie, mime: "video/mpeg", names: "m1v", attachment: .mpeg)
        case .mpeg2Video:
            Row(
                .movie, mime: "video/mpeg video/mpeg2 video/x-mpeg2", names: "m2v mpeg2", uti: "public.mpeg-2-video",
                attachment: .mpeg2Video)
        case .mpeg4:
            Row(
                .movie, mime: "video/mp4 video/x-mp4 application/mp4", names: "mp4 mpeg4", uti: "public.mpeg-4",
                attachment: .mpeg4)
        case .avi:
            Row(
                .movie, mime: "video/x-msvideo video/avi video/msvideo video/vnd.avi", names: "avi", uti: "public.avi",
                attachment: .avi)
        case .quickTime:
            Row(.movie, mime: "video/quicktime video/mov", names: "mov qt", uti: "com.apple.quicktime-movie")
        case .m4v: Row(.movie, mime: "video/x-m4v", names: "m4v", uti: "com.apple.m4v-video")
        case .threeGPP: Row(.movie, mime: "video/3gpp", names: "3gp 3gpp", uti: "public.3gpp")
        case .threeGPP2: Row(.movie, mime: "video/3gpp2", names: "3g2", uti: "public.3gpp2")
        case .webm: Row(.movie, mime: "video/webm", names: "webm", uti: "org.webmproject.webm")
        case .matroska: Row(.movie, mime: "video/x-matroska video/mkv", names: "mkv", uti: "org.matroska.mkv")
        case .mpegTransportStream:
            Row(.movie, mime: "video/mp2t", names: "ts m2ts mts", uti: "public.mpeg-2-transport-stream")
        case .flashVideo: Row(.movie, mime: "video/x-flv", names: "flv")
        case .windowsMedia:
            Row(.movie, mime: "video/x-ms-wmv video/x-ms-asf", names: "wmv asf", uti: "com.microsoft.windows-media-wmv")
        case .oggVideo: Row(.movie, mime: "video/ogg", names: "ogv", uti: "org.xiph.ogg-video")
        case .mxf: Row(.movie, mime: "application/mxf", names: "mxf")
        case .digitalVideo: Row(.movie, mime: "video/x-dv", names: "dv")
        case .flash: Row(.movie, mime: "application/x-shockwave-flash", names: "swf")
        }
    }
}
