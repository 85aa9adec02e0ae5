import RichPush

/// What of a page's results goes into the page: a browser has to read all of it before it shows anything.
///
/// Pure: told the sizes of files one after the other, it says of each whether there is room.
public struct EmbeddingBudget: Sendable {
    /// The longest attachment that goes in.
    public let attachmentBytesMax: Int
    private var attachmentBytesLeft: Int
    private var thumbnailBytesLeft: Int

    /// For drawings that are all looked at, or for a table with many rows.
    public init(_ kind: ReportPage.Kind) {
        switch kind {
        case .report:
            attachmentBytesMax = Limits.reportAttachmentBytesMax
            attachmentBytesLeft = Limits.reportAttachmentsBytesMax
        case .preview:
            attachmentBytesMax = Limits.previewAttachmentsBytesMax
            attachmentBytesLeft = Limits.previewAttachmentsBytesMax
        }
        thumbnailBytesLeft = Limits.reportThumbnailsBytesMax
    }

    /// Whether an attachment of that many bytes goes in; its room is taken then.
    public mutating func takesAttachment(bytes: Int) -> Bool {
        guard bytes <= attachmentBytesMax, bytes <= attachmentBytesLeft else { return false }
        attachmentBytesLeft -= bytes
        return true
    }

    /// Whether a thumbnail of that many bytes goes in; its room is taken then.
    public mutating func takesThumbnail(bytes: Int) -> Bool {
        guard bytes <= thumbnailBytesLeft else { return false }
        thumbnailBytesLeft -= bytes
        return true
    }
}
