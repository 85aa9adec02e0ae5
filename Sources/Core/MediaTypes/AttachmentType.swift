/// A file type that Apple documents as attachable to a notification.
///
/// File extensions, MIME types and UTIs in results all come from this table, so that they agree.
///
/// Source: Apple, `UNNotificationAttachment`, "Supported File Types" (11 rows).
public enum AttachmentType: String, Codable, Sendable, Hashable, CaseIterable {
    case jpeg, png, gif
    case aiff, wave, mp3, mpeg4Audio
    case mpeg, mpeg2Video, mpeg4, avi

    /// The uniform type identifier, which iOS compares with its list exactly.
    public var uti: String { row.uti }

    /// The extension of file names that are written, without the dot.
    public var fileExtension: String { row.fileExtension }

    /// The MIME type in manifests and HTTP responses.
    public var mimeType: String { row.mimeType }

    /// How the notification shows the file: as an image, audio or a movie.
    public var kind: MediaKind { row.kind }

    /// The largest file that iOS accepts, in bytes; a file of exactly this size is within the limit.
    public var bytesMax: Int { Limits.attachmentBytesMax(kind) }

    private struct Row {
        let kind: MediaKind
        let uti: String
        let fileExtension: String
        let mimeType: String
    }

    private var row: Row {
        switch self {
        case .jpeg: Row(kind: .image, uti: "public.jpeg", fileExtension: "jpg", mimeType: "image/jpeg")
        case .png: Row(kind: .image, uti: "public.png", fileExtension: "png", mimeType: "image/png")
        case .gif: Row(kind: .image, uti: "com.compuserve.gif", fileExtension: "gif", mimeType: "image/gif")
        case .aiff: Row(kind: .audio, uti: "public.aiff-audio", fileExtension: "aiff", mimeType: "audio/aiff")
        case .wave:
            Row(kind: .audio, uti: "com.microsoft.waveform-audio", fileExtension: "wav", mimeType: "audio/wav")
        case .mp3: Row(kind: .audio, uti: "public.mp3", fileExtension: "mp3", mimeType: "audio/mpeg")
        case .mpeg4Audio:
            Row(kind: .audio, uti: "public.mpeg-4-audio", fileExtension: "m4a", mimeType: "audio/mp4")
        case .mpeg: Row(kind: .movie, uti: "public.mpeg", fileExtension: "mpg", mimeType: "video/mpeg")
        case .mpeg2Video:
            Row(kind: .movie, uti: "public.mpeg-2-video", fileExtension: "m2v", mimeType: "video/mpeg")
        case .mpeg4: Row(kind: .movie, uti: "public.mpeg-4", fileExtension: "mp4", mimeType: "video/mp4")
        case .avi: Row(kind: .movie, uti: "public.avi", fileExtension: "avi", mimeType: "video/x-msvideo")
        }
    }
}

/// How a notification shows an attachment.
///
/// Source: Apple, `UNNotificationAttachment`, "Supported File Types".
public enum MediaKind: String, Codable, Sendable, Hashable, CaseIterable {
    case image
    case audio
    case movie
}

/// Lookup of one of Apple's eleven types by UTI, MIME type or file name.
extension AttachmentType {
    /// Looks up one of the eleven UTIs, compared exactly as iOS does.
    package init?(uti: String) {
        guard let type = Self.allCases.first(where: { $0.uti == uti }) else { return nil }
        self = type
    }

    /// Looks up a Content-Type, ignoring its parameters; nil when the type is not attachable.
    package init?(mimeType: String) {
        let essence = mimeType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        self.init(MediaTypeNames.mimeTypes[essence])
    }

    /// Looks up the extension of a file name or URL path; nil when there is none or it is not attachable.
    package init?(name: String) {
        guard let ending = FileName.fileExtension(of: name), !MediaTypeNames.nonExtensionNames.contains(ending)
        else {
            return nil
        }
        self.init(MediaTypeNames.extensions[ending])
    }

    private init?(_ format: MediaFormat?) {
        // M4V is Apple's name for an MP4 file; only MP4 is documented as attachable.
        guard let type = format == .m4v ? .mpeg4 : format?.attachmentType else { return nil }
        self = type
    }
}

extension AttachmentType {
    /// Detects the type from a file's first bytes, for files without a known type.
    ///
    /// - Parameter bytes: At least the first 12 bytes.
    public init?(beginning bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(12))
        guard bytes.count == 12, let type = Self.signature(bytes) else { return nil }
        self = type
    }

    private static func signature(_ bytes: [UInt8]) -> AttachmentType? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return .png }
        if bytes.starts(with: [0, 0, 1, 0xBA]) { return .mpeg }
        if bytes[0] == 0xFF, [0xFA, 0xFB, 0xF2, 0xF3].contains(bytes[1]) { return .mp3 }
        return switch (text(bytes[0..<4]), text(bytes[4..<8]), text(bytes[8..<12])) {
        case ("GIF8", _, _): .gif
        case ("RIFF", _, "WAVE"): .wave
        case ("RIFF", _, "AVI "): .avi
        case ("FORM", _, "AIFF"): .aiff
        case (_, "ftyp", let brand): container(brand)
        case (let tag, _, _) where tag.hasPrefix("ID3"): .mp3
        default: nil
        }
    }

    /// The type for an `ftyp` brand; nil for HEIF images and QuickTime movies, which are not attachable.
    private static func container(_ brand: String) -> AttachmentType? {
        if ["M4A ", "M4B "].contains(brand) { return .mpeg4Audio }
        let isMovie = ["iso", "mp4", "avc", "M4V", "dash", "MSNV"].contains { brand.hasPrefix($0) }
        return isMovie ? .mpeg4 : nil
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension Limits {
    /// Apple: images up to 10 MB.
    package static let imageBytesMax = 10_000_000
    /// Apple: audio up to 5 MB.
    package static let audioBytesMax = 5_000_000
    /// Apple: movies up to 50 MB.
    package static let movieBytesMax = 50_000_000
    /// Apple's size limit for a kind, in bytes.
    package static func attachmentBytesMax(_ kind: MediaKind) -> Int {
        switch kind {
        case .image: imageBytesMax
        case .audio: audioBytesMax
        case .movie: movieBytesMax
        }
    }
}
