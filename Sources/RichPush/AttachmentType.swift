/// A file type that Apple documents as attachable to a notification.
///
/// Name, MIME type and UTI that we write out come from here, so that they always agree.
///
/// Source: Apple, `UNNotificationAttachment`, "Supported File Types" (11 rows).
public enum AttachmentType: String, Codable, Sendable, Hashable, CaseIterable {
    case jpeg, png, gif
    case aiff, wave, mp3, mpeg4Audio
    case mpeg, mpeg2Video, mpeg4, avi

    /// The uniform type identifier that iOS compares, exactly, with its list.
    public var uti: String { row.uti }

    /// The extension of the file name we write, without the dot.
    public var fileExtension: String { row.fileExtension }

    /// The MIME type we write and serve.
    public var mimeType: String { row.mimeType }

    /// What the notification shows it as.
    public var kind: MediaKind { row.kind }

    /// The largest file iOS takes, in decimal bytes; a file is over the limit when it is larger.
    public var bytesMax: Int { Limits.attachmentBytesMax(kind) }

    /// The 5 MB, 10 MB or 50 MB of Apple's table as a person reads it.
    public var bytesMaxDescription: String { "\(bytesMax / 1_000_000) MB" }

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
