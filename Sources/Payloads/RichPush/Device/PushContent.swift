#if canImport(UserNotifications)
    import UserNotifications
#endif

/// An attachment in the neutral object `attachprep` of a payload: the file to fetch and its attachment options.
///
/// ```json
/// {"attachprep": {"attachments": [
///     {"id": "0", "url": "https://push.example/media/9f2c/attachment.jpg", "bytes": 61220, "sha256": "9f…",
///      "options": {"typeHint": "public.jpeg"},
///      "smaller": {"url": "https://push.example/media/9f2c/iosSmall.jpg", "bytes": 20480, "sha256": "7d…"},
///      "thumbnail": {"url": "https://push.example/media/9f2c/thumbnail.jpg", "bytes": 9120, "sha256": "41…"}}],
///  "avatar": {"url": "https://push.example/media/9f2c/avatar.jpg", "bytes": 8200, "sha256": "c0…"},
///  "receipt": {"url": "https://push.example/v1/receipts", "token": "…"}}}
/// ```
///
/// Keys without a value are omitted. A file in the app's bundle has `file` and no `url`.
public struct PushAttachment: Codable, Sendable, Hashable {
    public var id: String
    public var url: String?
    /// The name of a file in the app's bundle.
    public var file: String?
    /// Size of the file at the URL, in bytes.
    public var bytes: Int?
    /// SHA-256 of the file at the URL in lowercase hexadecimal.
    public var sha256: String?
    public var options: PushAttachmentOptions?
    /// How to open the file at the URL; nil for a file that is not sealed.
    public var sealed: PushSeal?
    /// A still with much fewer bytes, for slow, expensive and constrained networks; nil for a sealed attachment.
    public var smaller: PushPicture?
    /// A small image to show when the attachment does not arrive.
    public var thumbnail: PushPicture?

    public init(id: String) {
        self.id = id
    }
}

/// Attachment options: those of the manifest, without null values.
public struct PushAttachmentOptions: Codable, Sendable, Hashable {
    /// The UTI of the file.
    public var typeHint: String?
    public var thumbnailHidden: Bool?
    /// Unit coordinates, origin top-left; encoded with the keys `X`, `Y`, `Width` and `Height`.
    public var thumbnailClippingRect: ClippingRect?
    public var thumbnailTime: ThumbnailTime?

    public init() {}
}

/// A JPEG or PNG beside the attachments: a thumbnail, a smaller rendition or the sender's picture.
public struct PushPicture: Codable, Sendable, Hashable {
    public var url: String
    public var bytes: Int?
    public var sha256: String?
    /// What the sealed thumbnail at the URL contains, which the secret of the attachment opens; nil for a file that is
    /// not sealed.
    public var sealed: PushSealedContent?

    public init(url: String) {
        self.url = url
    }
}

/// The secret of an attachment and its thumbnail, and what the sealed attachment contains.
public struct PushSeal: Codable, Sendable, Hashable {
    public var secret: SealedSecret
    public var kind: MediaKind
    /// Bytes of the file when it is open.
    public var bytes: Int

    public init(secret: SealedSecret, kind: MediaKind, bytes: Int) {
        (self.secret, self.kind, self.bytes) = (secret, kind, bytes)
    }
}

/// What a sealed thumbnail contains.
public struct PushSealedContent: Codable, Sendable, Hashable {
    public var kind: MediaKind
    /// Bytes of the file when it is open.
    public var bytes: Int

    public init(kind: MediaKind, bytes: Int) {
        (self.kind, self.bytes) = (kind, bytes)
    }
}

/// The URL to which a device reports the arrival of a notification, and the token that permits it.
public struct PushReceipt: Codable, Sendable, Hashable {
    /// The URL of the `POST` request; the token is in the body.
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
    /// The identifier of the sender's picture among the attachments that an extension gets.
    public static let avatarID = "avatar"

    /// In order of preference; the device shows the first that arrives.
    public var attachments: [PushAttachment]
    /// The sender's picture, for communication notifications.
    public var avatar: PushPicture?
    public var receipt: PushReceipt?

    public init(attachments: [PushAttachment], avatar: PushPicture? = nil, receipt: PushReceipt? = nil) {
        self.attachments = attachments
        self.avatar = avatar
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

extension PushAttachmentOptions {
    /// The options in the form that `UNNotificationAttachment` takes, for a file of `type`.
    ///
    /// The type hint is that of `type`. Options that do not apply to it are omitted: audio has no thumbnail, a frame
    /// number applies to a GIF, a time to a movie.
    public func dictionary(for type: DeviceFileType) -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [Self.typeHintKey: type.uti]
        guard type.kind != .audio else { return dictionary }
        if let thumbnailHidden { dictionary[Self.thumbnailHiddenKey] = thumbnailHidden }
        if let thumbnailClippingRect {
            dictionary[Self.thumbnailClippingRectKey] = thumbnailClippingRect.dictionaryRepresentation
        }
        switch thumbnailTime {
        case .movie(let time) where type.kind == .movie:
            dictionary[Self.thumbnailTimeKey] = time.dictionaryRepresentation
        case .frame(let number) where type == DeviceFileType(.gif): dictionary[Self.thumbnailTimeKey] = number
        default: break
        }
        return dictionary
    }

    // Apple does not document the values of the constants; on other platforms their names are used.
    #if canImport(UserNotifications)
        static var typeHintKey: String { UNNotificationAttachmentOptionsTypeHintKey }
        static var thumbnailHiddenKey: String { UNNotificationAttachmentOptionsThumbnailHiddenKey }
        static var thumbnailClippingRectKey: String { UNNotificationAttachmentOptionsThumbnailClippingRectKey }
        static var thumbnailTimeKey: String { UNNotificationAttachmentOptionsThumbnailTimeKey }
    #else
        static let typeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
        static let thumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
        static let thumbnailClippingRectKey = "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
        static let thumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"
    #endif
}

extension ClippingRect {
    /// The dictionary of `CGRectCreateDictionaryRepresentation`.
    fileprivate var dictionaryRepresentation: [String: Double] {
        ["X": x, "Y": y, "Width": width, "Height": height]
    }
}

extension MovieTime {
    /// The dictionary of `CMTimeCopyAsDictionary`.
    fileprivate var dictionaryRepresentation: [String: any Sendable] {
        ["value": value, "timescale": timescale, "epoch": epoch, "flags": flags]
    }
}
