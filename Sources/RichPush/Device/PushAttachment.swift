/// One attachment of the neutral object `attachprep` in a payload: what a device fetches, and how it attaches it.
///
/// ```json
/// {"attachprep": {"attachments": [
///     {"id": "0", "url": "https://push.example/media/9f2c/attachment.jpg", "bytes": 61220, "sha256": "9f…",
///      "options": {"typeHint": "public.jpeg"},
///      "thumbnail": {"url": "https://push.example/media/9f2c/thumbnail.jpg", "bytes": 9120, "sha256": "41…"}}],
///  "receipt": {"url": "https://push.example/v1/receipts", "token": "…"}}}
/// ```
///
/// Keys without a value are left out. A file that the app brings along has `file` and no `url`.
public struct PushAttachment: Codable, Sendable, Hashable {
    public var id: String
    public var url: String?
    /// A file in the app's bundle.
    public var file: String?
    /// Decimal bytes of the file at the address.
    public var bytes: Int?
    /// Lower-case hexadecimal.
    public var sha256: String?
    public var options: PushAttachmentOptions?
    /// A small picture to show when the attachment itself does not arrive.
    public var thumbnail: PushThumbnail?

    public init(id: String) {
        self.id = id
    }
}

/// The options to attach a file with: those of the manifest, without the ones that say nothing.
public struct PushAttachmentOptions: Codable, Sendable, Hashable {
    /// A UTI.
    public var typeHint: String?
    public var thumbnailHidden: Bool?
    /// `X`, `Y`, `Width`, `Height`: unit values, origin top-left.
    public var thumbnailClippingRect: ClippingRect?
    public var thumbnailTime: ThumbnailTime?

    public init() {}
}

/// A small JPEG or PNG beside an attachment.
public struct PushThumbnail: Codable, Sendable, Hashable {
    public var url: String
    public var bytes: Int?
    public var sha256: String?

    public init(url: String) {
        self.url = url
    }
}

/// Where a device says that a notification arrived, and the right to do so.
public struct PushReceipt: Codable, Sendable, Hashable {
    /// `POST`ed to, with the token in the body.
    public var url: String
    public var token: String

    public init(url: String, token: String) {
        self.url = url
        self.token = token
    }
}

/// The neutral object `attachprep` of a payload.
public struct PushContent: Codable, Sendable, Hashable {
    /// The key of the object in a payload.
    public static let key = "attachprep"

    /// In order; the first that arrives is the one to show.
    public var attachments: [PushAttachment]
    public var receipt: PushReceipt?

    public init(attachments: [PushAttachment], receipt: PushReceipt? = nil) {
        self.attachments = attachments
        self.receipt = receipt
    }
}

extension PushAttachmentOptions {
    private enum CodingKeys: String, CodingKey {
        case typeHint, thumbnailHidden, thumbnailClippingRect, thumbnailTime
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        typeHint = try values.decodeIfPresent(String.self, forKey: .typeHint)
        thumbnailHidden = try values.decodeIfPresent(Bool.self, forKey: .thumbnailHidden)
        thumbnailClippingRect =
            try values.decodeIfPresent(CoreGraphicsRect.self, forKey: .thumbnailClippingRect)?.clippingRect()
        thumbnailTime = try values.decodeIfPresent(ThumbnailTime.self, forKey: .thumbnailTime)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(typeHint, forKey: .typeHint)
        try values.encodeIfPresent(thumbnailHidden, forKey: .thumbnailHidden)
        try values.encodeIfPresent(
            thumbnailClippingRect.map(CoreGraphicsRect.init), forKey: .thumbnailClippingRect)
        try values.encodeIfPresent(thumbnailTime, forKey: .thumbnailTime)
    }
}
