import AttachPrepModel
public import RichPush
import SafeArithmetic

/// Builds the neutral object from prepared media.
extension PushContent {
    /// Lists prepared files and files of the app's bundle; omits media that failed or that only the app can fetch.
    ///
    /// - Parameter otherPrepared: The results of `media.otherItems`; the sender's picture is one of them, or else a
    ///   rendition of the media.
    public init(
        media: PayloadMedia, prepared: [PreparedMedia], otherPrepared: [PreparedMedia] = [], receipt: PushReceipt?
    ) {
        var (ids, urls): (Set<String>, Set<String>) = ([], [])
        let attachments: [PushAttachment] = zip(media.items, prepared).enumerated().compactMap { index, pair in
            let (item, prepared) = pair
            guard var attachment = PushAttachment(item, prepared) else { return nil }
            // A URL is listed once, so that a device does not retry a failed download under another id.
            if let url = attachment.url, !urls.insert(url).inserted { return nil }
            attachment.id = Self.unique(item.id ?? "\(index)", among: &ids)
            return attachment
        }
        self.init(attachments: attachments, receipt: receipt)
        let senders = zip(media.otherItems, otherPrepared).filter { $0.0.location.target == .avatar }.map(\.1)
        avatar = (senders + prepared).lazy.compactMap(\.manifest?.avatar).first
    }

    /// Makes an id unique, since iOS accepts an attachment identifier only once.
    private static func unique(_ id: String, among ids: inout Set<String>) -> String {
        let candidates = [id] + (2...Limits.payloadMediaMax + 1).map { "\(id)-\($0)" }
        let free = candidates.first { !ids.contains($0) } ?? id
        ids.insert(free)
        return free
    }
}

extension PushAttachment {
    /// Nil when there is nothing to fetch.
    fileprivate init?(_ item: PayloadMediaItem, _ prepared: PreparedMedia) {
        switch prepared {
        case .ready(let manifest), .fallback(let manifest): self.init(manifest)
        case .untouched:
            guard case .file(let name) = item.address else { return nil }
            self.init(id: "")
            file = name
            let requested = PushAttachmentOptions(item.options, ofFile: name)
            options = requested == PushAttachmentOptions() ? nil : requested
        case .failed: return nil
        }
    }
}

extension PushAttachment {
    /// Nil when the attachment has no URL.
    init?(_ manifest: Manifest) {
        guard let attachment = manifest.attachment, let url = attachment.url else { return nil }
        self.init(id: "")
        self.url = url
        options = PushAttachmentOptions(attachment, manifest.options)
        thumbnail = manifest.thumbnail.flatMap { PushPicture($0, beside: attachment) }
        smaller = manifest.renditions?[MediaTarget.smallerKey].flatMap { PushPicture($0, smallerThan: attachment) }
        bytes = attachment.bytes
        guard let seal = manifest.sealed else {
            sha256 = attachment.sha256
            return
        }
        guard let secret = seal.secret, let content = attachment.sealed else { return nil }
        // The type is in the file, and the cipher proves more than a digest.
        options?.typeHint = nil
        if options == PushAttachmentOptions() { options = nil }
        sealed = PushSeal(secret: secret, kind: attachment.kind, bytes: content.bytes)
    }
}

extension PushPicture {
    /// Nil when the image has no URL or is the attachment itself.
    fileprivate init?(_ image: ManifestImage, beside attachment: ManifestFile) {
        guard let url = image.url, url != attachment.url, image.sha256 != attachment.sha256 else { return nil }
        self.init(url: url)
        bytes = image.bytes
        sealed = image.sealed.map { PushSealedContent(kind: .image, bytes: $0.bytes) }
        if sealed == nil { sha256 = image.sha256 }
    }

    /// Nil when the picture has no URL, or saves less than half of the attachment's bytes.
    fileprivate init?(_ picture: ManifestRendition, smallerThan attachment: ManifestFile) {
        guard picture.bytes <= attachment.bytes / 2 else { return nil }
        self.init(picture)
    }

    /// Nil when the picture has no URL.
    fileprivate init?(_ picture: ManifestRendition) {
        guard let url = picture.url else { return nil }
        self.init(url: url)
        (bytes, sha256) = (picture.bytes, picture.sha256)
    }
}

extension Manifest {
    /// The sender's picture, as a payload has it.
    var avatar: PushPicture? {
        MediaTarget.avatar.renditionKey(for: .image).flatMap { renditions?[$0] }.flatMap { PushPicture($0) }
    }
}

extension PushAttachmentOptions {
    fileprivate init(_ attachment: ManifestFile, _ options: AttachmentOptions?) {
        self.init()
        typeHint = options?.typeHint ?? attachment.uti
        // iOS shows the thumbnail by default.
        thumbnailHidden = options?.thumbnailHidden == true ? true : nil
        thumbnailClippingRect = options?.thumbnailClippingRect
        thumbnailTime = options?.thumbnailTime
    }

    /// Options for a file that was not inspected: only its name tells whether the time is seconds or a frame.
    fileprivate init(_ options: PayloadMediaOptions, ofFile name: String) {
        self.init()
        thumbnailHidden = options.thumbnailHidden == true ? true : nil
        thumbnailClippingRect = options.clippingRect
        let type = AttachmentType(name: name)
        guard let time = options.thumbnailTime, time >= 0, let type else { return }
        if type.kind == .movie, time <= Limits.durationSecondsMax {
            thumbnailTime = .movie(MovieTime(seconds: time))
        } else if type == .gif, time < Double(Limits.animationFramesMax) {
            thumbnailTime = .frame(Int(clamping: time))
        }
    }
}

/// The JSON form of the neutral object: keys without a value are omitted, and numbers have their shortest form.
extension PushContent {
    /// Whether the object has no content and is not written.
    public var isEmpty: Bool { attachments.isEmpty && avatar == nil && receipt == nil }

    public var payloadValue: PayloadValue {
        let receipt = receipt.map {
            PayloadValue.object([PayloadMember("url", .string($0.url)), PayloadMember("token", .string($0.token))])
        }
        return .object(
            of: [
                ("attachments", attachments.isEmpty ? nil : .array(attachments.map(\.payloadValue))),
                ("avatar", avatar.map(\.payloadValue)), ("receipt", receipt),
            ])
    }
}

extension PushAttachment {
    var payloadValue: PayloadValue {
        let sealed = sealed.map { seal in
            PayloadValue.object(
                of: [("secret", .string(seal.secret.text))] + PushPicture.members(seal.kind, bytes: seal.bytes))
        }
        return .object(
            of: [
                ("id", .string(id)), ("url", url.map(PayloadValue.string)), ("file", file.map(PayloadValue.string)),
                ("bytes", bytes.map(PayloadValue.number)), ("sha256", sha256.map(PayloadValue.string)),
                ("sealed", sealed), ("options", options.map(\.payloadValue)),
                ("smaller", smaller.map(\.payloadValue)), ("thumbnail", thumbnail.map(\.payloadValue)),
            ])
    }
}

extension PushPicture {
    var payloadValue: PayloadValue {
        .object(
            of: [
                ("url", .string(url)), ("bytes", bytes.map(PayloadValue.number)),
                ("sha256", sha256.map(PayloadValue.string)),
                ("sealed", sealed.map { .object(of: Self.members($0.kind, bytes: $0.bytes)) }),
            ])
    }

    fileprivate static func members(_ kind: MediaKind, bytes: Int) -> [(String, PayloadValue?)] {
        [("kind", .string(kind.rawValue)), ("bytes", .number(bytes))]
    }
}

extension PushAttachmentOptions {
    var payloadValue: PayloadValue {
        let rect = thumbnailClippingRect.map {
            PayloadValue.object(
                of: [
                    ("X", .number($0.x)), ("Y", .number($0.y)), ("Width", .number($0.width)),
                    ("Height", .number($0.height)),
                ])
        }
        return .object(
            of: [
                ("typeHint", typeHint.map(PayloadValue.string)),
                ("thumbnailHidden", thumbnailHidden.map(PayloadValue.bool)),
                ("thumbnailClippingRect", rect), ("thumbnailTime", thumbnailTime.map(\.payloadValue)),
            ])
    }
}

extension ThumbnailTime {
    var payloadValue: PayloadValue {
        switch self {
        case .frame(let number): .number(number)
        case .movie(let time):
            .object(
                of: [
                    ("value", .number("\(time.value)")), ("timescale", .number("\(time.timescale)")),
                    ("epoch", .number("\(time.epoch)")), ("flags", .number("\(time.flags)")),
                ])
        }
    }
}

extension PayloadValue {
    /// Creates an object of the members that have a value.
    static func object(of members: [(String, PayloadValue?)]) -> PayloadValue {
        .object(members.compactMap { key, value in value.map { PayloadMember(key, $0) } })
    }

    static func number(_ value: Int) -> PayloadValue { .number("\(value)") }

    /// Writes a number in its shortest form: `0.25`, and `1` for a whole number.
    static func number(_ value: Double) -> PayloadValue {
        // From 2^53 on, a Double does not represent every whole number, so not all digits are significant.
        let isWhole = value == value.rounded() && value.magnitude < 9_007_199_254_740_992
        return .number(isWhole ? "\(Int(clamping: value))" : "\(value)")
    }
}
