/// The options to attach the file with, under the short names of the manifest.
///
/// A client maps the names to Apple's constants (`UNNotificationAttachmentOptionsTypeHintKey` and so on).
/// They hold what was asked for, for the attachment alone.
public struct AttachmentOptions: Codable, Sendable, Hashable {
    /// A UTI; iOS does not look at the content.
    public var typeHint: String
    /// Whether the collapsed notification shows no thumbnail; nil when nothing was asked.
    public var thumbnailHidden: Bool?
    /// Unit rectangle, origin top-left; nil when nothing was asked.
    public var thumbnailClippingRect: ClippingRect?
    /// Frame number or CMTime in the attachment's own timeline; nil when nothing was asked.
    public var thumbnailTime: ThumbnailTime?

    public init(
        typeHint: String, thumbnailHidden: Bool? = nil, thumbnailClippingRect: ClippingRect? = nil,
        thumbnailTime: ThumbnailTime? = nil
    ) {
        self.typeHint = typeHint
        self.thumbnailHidden = thumbnailHidden
        self.thumbnailClippingRect = thumbnailClippingRect
        self.thumbnailTime = thumbnailTime
    }

    private enum CodingKeys: String, CodingKey {
        case typeHint, thumbnailHidden, thumbnailClippingRect, thumbnailTime
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        typeHint = try values.decode(String.self, forKey: .typeHint)
        thumbnailHidden = try values.decodeIfPresent(Bool.self, forKey: .thumbnailHidden)
        thumbnailClippingRect =
            try values.decodeIfPresent(CoreGraphicsRect.self, forKey: .thumbnailClippingRect)?.clippingRect()
        thumbnailTime = try values.decodeIfPresent(ThumbnailTime.self, forKey: .thumbnailTime)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(typeHint, forKey: .typeHint)
        try values.encode(thumbnailHidden, forKey: .thumbnailHidden)
        try values.encode(thumbnailClippingRect.map(CoreGraphicsRect.init), forKey: .thumbnailClippingRect)
        try values.encode(thumbnailTime, forKey: .thumbnailTime)
    }
}

/// The keys of `CGRectCreateDictionaryRepresentation`, which iOS reads the clipping rectangle from.
struct CoreGraphicsRect: Codable {
    let X: Double
    let Y: Double
    let Width: Double
    let Height: Double

    init(_ rect: ClippingRect) {
        (X, Y, Width, Height) = (rect.x, rect.y, rect.width, rect.height)
    }

    func clippingRect() throws -> ClippingRect {
        try ClippingRect(x: X, y: Y, width: Width, height: Height)
    }
}
