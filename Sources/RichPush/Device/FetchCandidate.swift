#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One file that a device may attach: where it is, what is known of it, and how it is attached.
public struct FetchCandidate: Sendable, Hashable {
    public enum Role: Sendable, Hashable {
        case attachment
        /// Stands in for an attachment that does not arrive.
        case thumbnail
    }

    public enum Source: Sendable, Hashable {
        /// http or https.
        case web(URL)
        /// A file of the app's: a name without folders.
        case bundle(String)
    }

    public let role: Role
    /// For `UNNotificationAttachment`.
    public let id: String
    public let source: Source
    /// Decimal bytes of the file.
    public let bytes: Int?
    /// Lower-case hexadecimal.
    public let sha256: String?
    public let options: PushAttachmentOptions

    /// Nil when it cannot be attached: no address, or more bytes than Apple takes.
    init?(attachment: PushAttachment) {
        guard let source = Source(url: attachment.url, file: attachment.file) else { return nil }
        role = .attachment
        id = attachment.id
        self.source = source
        bytes = attachment.bytes
        sha256 = attachment.sha256
        options = attachment.options ?? PushAttachmentOptions()
        guard bytes ?? 0 <= bytesMax else { return nil }
    }

    /// Nil when the attachment has no thumbnail, or one that cannot be attached.
    init?(thumbnailOf attachment: PushAttachment) {
        guard let thumbnail = attachment.thumbnail, let source = Source(url: thumbnail.url, file: nil) else {
            return nil
        }
        role = .thumbnail
        id = "\(attachment.id)-thumbnail"
        self.source = source
        bytes = thumbnail.bytes
        sha256 = thumbnail.sha256
        // What the attachment is to be shown by says nothing of a picture that is finished.
        options = PushAttachmentOptions()
        guard bytes ?? 0 <= bytesMax else { return nil }
    }

    /// The type that the payload gives; nil when it gives none of the eleven.
    public var declaredType: AttachmentType? { options.typeHint.flatMap(AttachmentType.init(uti:)) }

    /// The most that may arrive: Apple's limit for what it is said to be, and what was declared.
    public var bytesMax: Int {
        let kind = declaredType?.kind ?? (role == .thumbnail ? .image : .movie)
        return Limits.attachmentBytesMax(kind)
    }
}

extension FetchCandidate.Source {
    init?(url: String?, file: String?) {
        if let url = url.flatMap(PushContent.webAddress) {
            self = .web(url)
        } else if let name = file?.split(separator: "/").last.map(String.init), !["", ".", ".."].contains(name) {
            self = .bundle(name)
        } else {
            return nil
        }
    }
}
