import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PushContent {
    /// Reads the attachments and receipt of a notification from its `userInfo`.
    ///
    /// Reads the neutral object, or else the app's own keys, or else the payload's dialect; nil when there is neither
    /// an attachment, nor a sender's picture, nor a receipt.
    ///
    /// - Parameters:
    ///   - userInfo: The payload as iOS hands it to the extension.
    ///   - mediaKeys: The app's own keys of media, as in `data.image` or `gallery[].src`; the first with media is used.
    ///     The value is a URL, an object with `url`, an array of either, or an object with one of these per language.
    ///   - languages: The user's languages in order of preference, such as `de-AT`, for media per language.
    public init?(userInfo: [AnyHashable: Any], mediaKeys: [String] = [], languages: [String] = []) {
        self.init(payload: PayloadValue(userInfo: userInfo), mediaKeys: mediaKeys, languages: languages)
    }

    /// Reads the attachments and receipt of a payload.
    ///
    /// Lenient: an invalid attachment or option is skipped, and unknown keys are ignored. URLs must be http or https.
    /// When a neutral object without attachments is present, neither keys of the app nor the dialect are read.
    public init?(payload: PayloadValue, mediaKeys: [String] = [], languages: [String] = []) {
        let object = payload[Self.key]
        let elements = object?["attachments"]?.elements ?? []
        attachments = elements.prefix(Limits.payloadMediaMax).enumerated()
            .compactMap { PushAttachment($0.element, index: $0.offset) }
        avatar = object?["avatar"].flatMap { PushPicture($0) }
        receipt = object?["receipt"].flatMap(PushReceipt.init)
        if object?.members == nil || (attachments.isEmpty && !elements.isEmpty) {
            let keyed = AppMediaKeys(mediaKeys, languages: languages).items(in: payload)
            attachments = Self.attachments(keyed ?? (try? PayloadReader.media(in: payload))?.items ?? [])
        }
        guard !attachments.isEmpty || avatar != nil || receipt != nil else { return nil }
    }

    /// Parses an http or https URL with a host; nil for anything else.
    static func webAddress(_ text: String) -> URL? {
        guard text.utf8.count <= Limits.urlBytesMax, let url = URL(string: text), let host = url.host, !host.isEmpty,
            ["http", "https"].contains(url.scheme?.lowercased() ?? "")
        else { return nil }
        return url
    }
}

extension PushAttachment {
    /// Nil when there is nothing to fetch.
    fileprivate init?(_ value: PayloadValue, index: Int) {
        self.init(id: value["id"]?.string ?? "\(index)")
        url = value["url"]?.string.flatMap { PushContent.webAddress($0) == nil ? nil : $0 }
        file = value["file"]?.string
        bytes = value["bytes"].flatMap(Self.bytes)
        sha256 = value["sha256"].flatMap(Self.digest)
        options = value["options"].map(PushAttachmentOptions.init)
        if let seal = value["sealed"] {
            // Without its secret, the file is of no use.
            guard let content = PushSealedContent(seal),
                let secret = seal["secret"]?.string.flatMap(SealedSecret.init(text:))
            else { return nil }
            sealed = PushSeal(secret: secret, kind: content.kind, bytes: content.bytes)
        }
        // An open picture would show what is sealed.
        smaller = sealed == nil ? value["smaller"].flatMap { PushPicture($0) } : nil
        thumbnail = value["thumbnail"].flatMap { PushPicture($0, isSealed: sealed != nil) }
        guard url != nil || file != nil || thumbnail != nil else { return nil }
    }

    fileprivate static func bytes(_ value: PayloadValue) -> Int? {
        value.double.flatMap(Int.init(exactly:)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// The digest in lowercase; nil unless it is 64 hexadecimal digits.
    fileprivate static func digest(_ value: PayloadValue) -> String? {
        guard let digest = value.string?.lowercased(), digest.utf8.count == 64,
            digest.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { return nil }
        return digest
    }
}

extension PushPicture {
    fileprivate init?(_ value: PayloadValue, isSealed: Bool = false) {
        guard let url = value["url"]?.string, PushContent.webAddress(url) != nil else { return nil }
        self.init(url: url)
        bytes = value["bytes"].flatMap(PushAttachment.bytes)
        sha256 = value["sha256"].flatMap(PushAttachment.digest)
        sealed = value["sealed"].flatMap(PushSealedContent.init)
        guard isSealed == (sealed != nil), isSealed == (value["sealed"] != nil) else { return nil }
    }
}

extension PushSealedContent {
    /// Nil without a kind or a length.
    fileprivate init?(_ value: PayloadValue) {
        guard let kind = value["kind"]?.string.flatMap(MediaKind.init(rawValue:)),
            let bytes = value["bytes"].flatMap(PushAttachment.bytes)
        else { return nil }
        self.init(kind: kind, bytes: bytes)
    }
}

extension PushReceipt {
    fileprivate init?(_ value: PayloadValue) {
        guard let url = value["url"]?.string, PushContent.webAddress(url) != nil, let token = value["token"]?.string,
            !token.isEmpty
        else { return nil }
        self.init(url: url, token: token)
    }
}

extension PushAttachmentOptions {
    fileprivate init(_ value: PayloadValue) {
        typeHint = value["typeHint"]?.string
        thumbnailHidden = value["thumbnailHidden"]?.bool
        thumbnailClippingRect = value["thumbnailClippingRect"].flatMap(Self.clippingRect)
        thumbnailTime = value["thumbnailTime"].flatMap(ThumbnailTime.init)
    }

    private static func clippingRect(_ value: PayloadValue) -> ClippingRect? {
        guard let x = value["X"]?.double, let y = value["Y"]?.double, let width = value["Width"]?.double,
            let height = value["Height"]?.double
        else { return nil }
        return try? ClippingRect(x: x, y: y, width: width, height: height)
    }
}

extension ThumbnailTime {
    /// Reads a frame number or a valid CMTime.
    fileprivate init?(_ value: PayloadValue) {
        if let number = value.double {
            guard let frame = Int(exactly: number), frame >= 0 else { return nil }
            self = .frame(frame)
        } else {
            guard let time = MovieTime(value) else { return nil }
            self = .movie(time)
        }
    }
}

extension MovieTime {
    fileprivate init?(_ value: PayloadValue) {
        guard let ticks = value["value"]?.double.flatMap(Int64.init(exactly:)), ticks >= 0,
            let timescale = value["timescale"]?.double.flatMap(Int32.init(exactly:)), timescale > 0,
            let flags = value["flags"]?.double.flatMap(UInt32.init(exactly:)), flags & 1 == 1
        else { return nil }
        let epoch = value["epoch"]?.double.flatMap(Int64.init(exactly:)) ?? 0
        self.init(value: ticks, timescale: timescale, epoch: epoch, flags: flags)
    }
}

/// Media of a payload without the neutral object: not prepared, or too large to hold the object.
extension PushContent {
    /// The media of a payload, each followed by its fallback.
    fileprivate static func attachments(_ items: [PayloadMediaItem]) -> [PushAttachment] {
        let attachments = items.prefix(Limits.payloadMediaMax).enumerated().flatMap { index, item in
            [PushAttachment(item, id: item.id ?? "\(index)"), item.fallback(id: item.id ?? "\(index)")]
        }
        return Array(attachments.compactMap { $0 }.prefix(Limits.payloadMediaMax))
    }
}

extension PushAttachment {
    /// The identifier of the media that replaces another when it cannot be fetched.
    static func fallbackID(of id: String) -> String { "\(id)-fallback" }

    /// Nil when only the app or its server can complete the URL.
    fileprivate init?(_ item: PayloadMediaItem, id: String) {
        self.init(id: id)
        switch item.address {
        case .url(let text) where PushContent.webAddress(text) != nil: url = text
        case .file(let name): file = name
        default: return nil
        }
        options = item.deviceOptions(type: item.attachmentType)
    }
}

extension PayloadMediaItem {
    fileprivate func fallback(id: String) -> PushAttachment? {
        guard let fallbackURL, PushContent.webAddress(fallbackURL) != nil else { return nil }
        var attachment = PushAttachment(id: PushAttachment.fallbackID(of: id))
        attachment.url = fallbackURL
        // The declared type applies to the first URL only.
        attachment.options = deviceOptions(type: nil)
        return attachment
    }

    /// The declared type; nil when the payload gives none or only a kind.
    fileprivate var attachmentType: AttachmentType? {
        guard let declaredType else { return nil }
        let keywords: [TypeKeyword] = if case .keywords(let keywords) = location.types { keywords } else { [] }
        return DeclaredType(declaredType, keywords: keywords).attachmentType
    }

    fileprivate func deviceOptions(type: AttachmentType?) -> PushAttachmentOptions {
        var device = PushAttachmentOptions()
        device.typeHint = type?.uti
        device.thumbnailHidden = options.thumbnailHidden
        device.thumbnailClippingRect = options.clippingRect
        device.thumbnailTime = options.thumbnailTime.flatMap { time in
            switch type ?? addressType {
            case .gif: .frame(Int(clamping: time))
            case let type? where type.kind == .movie: .movie(MovieTime(seconds: time))
            // Without a type, the number could be seconds or a frame.
            default: nil
            }
        }
        return device
    }

    private var addressType: AttachmentType? {
        switch address {
        case .url(let text), .file(let text): AttachmentType(name: text)
        case .other: nil
        }
    }
}

extension PayloadValue {
    /// Converts the `userInfo` of a notification.
    ///
    /// Members are sorted by key, since dictionaries are unordered. Values that JSON cannot express, and values nested
    /// deeper than `payloadDepthMax`, are omitted.
    public init(userInfo: [AnyHashable: Any]) {
        self = Self.object(userInfo, depth: 1)
    }

    private static func object(_ dictionary: [AnyHashable: Any], depth: Int) -> PayloadValue {
        let members = dictionary.compactMap { key, value -> PayloadMember? in
            guard let key = key.base as? String, let value = Self.value(value, depth: depth) else { return nil }
            return PayloadMember(key, value)
        }
        return .object(members.sorted { $0.key < $1.key })
    }

    private static func value(_ value: Any, depth: Int) -> PayloadValue? {
        if let text = value as? String { return .string(text) }
        if let scalar = scalar(value) { return scalar }
        guard depth < Limits.payloadDepthMax else { return nil }
        // Bounded: `depth` is checked against the limit above.
        if let dictionary = value as? [AnyHashable: Any] { return object(dictionary, depth: depth + 1) }
        guard let elements = value as? [Any] else { return nil }
        // Bounded: `depth` is checked against the limit above.
        return .array(elements.compactMap { Self.value($0, depth: depth + 1) })
    }

    /// Uses casts and class names only, on iOS and on Linux: a reference to NSNumber would link all of Foundation into
    /// the media processes.
    private static func scalar(_ value: Any) -> PayloadValue? {
        switch "\(type(of: value))" {
        case "NSNull": .null
        // NSNumbers 0 and 1 also cast to Bool; only the class name distinguishes a boolean.
        case "Bool", "__NSCFBoolean": (value as? Bool).map(PayloadValue.bool)
        default: number(value).map(PayloadValue.number)
        }
    }

    private static func number(_ value: Any) -> String? {
        // A Swift integer casts only to its own type, an NSNumber to every type that can represent it.
        if let number = value as? any BinaryInteger { return "\(number)" }
        if let number = value as? Int64 { return "\(number)" }
        if let number = value as? UInt64 { return "\(number)" }
        guard let number = value as? Double, number.isFinite else { return nil }
        return "\(number)"
    }
}

extension Limits {
    /// Longest accepted URL: the length that browsers and CDNs support.
    package static let urlBytesMax = 8_192
}
