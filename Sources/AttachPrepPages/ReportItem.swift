public import RichPush

/// A result on a page: its manifest, and those of its files that the page carries.
public struct ReportItem: Encodable, Sendable {
    public var manifest: Manifest
    public var media: ReportMedia
    public var text: NotificationText

    public init(manifest: Manifest, media: ReportMedia = ReportMedia(), text: NotificationText = .sample) {
        (self.manifest, self.media, self.text) = (manifest, media, text)
    }
}

/// The files of a result that a page carries; nil for one that it does not.
public struct ReportMedia: Encodable, Sendable, Hashable {
    public var attachment: EmbeddedFile?
    public var thumbnail: EmbeddedFile?

    public init(attachment: EmbeddedFile? = nil, thumbnail: EmbeddedFile? = nil) {
        (self.attachment, self.thumbnail) = (attachment, thumbnail)
    }
}

/// A file inside a page.
public struct EmbeddedFile: Encodable, Sendable, Hashable {
    /// Its MIME type.
    public var type: String
    /// Its bytes in base64.
    public var data: String

    public init(type: String, base64: String) {
        (self.type, data) = (type, base64)
    }
}
