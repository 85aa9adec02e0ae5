public import AttachPrepModel
public import RichPush

/// Writes prepared media into a payload in the form of its dialect.
///
/// All other bytes stay unchanged, except that the neutral object `attachprep` is added for apps that read it. Writing
/// is idempotent.
public enum PayloadWriter {
    /// Returns the payload to send; throws `payload.too_large` when it does not fit without its optional parts.
    ///
    /// - Parameters:
    ///   - prepared: The result of each media item of iOS, in order.
    ///   - otherPrepared: The result of each item of `media.otherItems`, in order; nil leaves all as they are.
    ///   - targets: The systems that the request names.
    ///   - receipt: The URL and token for arrival reports; part of the neutral object.
    ///   - addsNeutralObject: Whether `attachprep` is added; without it, only the service's own keys name the media.
    public static func write(
        _ document: PayloadDocument, media: PayloadMedia, prepared: [PreparedMedia],
        otherPrepared: [PreparedMedia]? = nil, targets: Set<MediaTarget> = [.ios], receipt: PushReceipt? = nil,
        addsNeutralObject: Bool = true
    ) throws -> WrittenPayload {
        let otherPrepared = otherPrepared ?? media.otherItems.map { _ in .untouched }
        guard media.items.count == prepared.count, media.otherItems.count == otherPrepared.count else {
            throw PayloadError(.internal, "The numbers of media items and results differ; report this as a bug.")
        }
        var rewriting = MediaEdits(value: document.value, media: media, prepared: prepared, targets: targets)
        rewriting.others = TargetEdits(
            value: document.value, media: media, prepared: prepared, otherPrepared: otherPrepared, targets: targets)
        var document = document
        try document.apply(try rewriting.edits())
        let warnings = rewriting.warnings
        // A browser and a Live Activity receive what the service sends, without a service extension that reads more.
        let isDeliveredAsItIs = media.isWebPush || media.isLiveActivity
        if media.isTextOnly { try startExtension(&document, at: media.root) }
        guard isDeliveredAsItIs || media.hasPayload(in: document.value) else {
            return WrittenPayload(bytes: document.bytes, warnings: warnings + requestWarnings(media))
        }
        let content =
            addsNeutralObject && !isDeliveredAsItIs
            ? PushContent(media: media, prepared: prepared, otherPrepared: otherPrepared, receipt: receipt)
            : PushContent(attachments: [])
        var fitting = FittedPayload(
            base: document, root: media.root, content: content, share: PayloadShare(media))
        let fitted = try fitting.fitted()
        return WrittenPayload(bytes: fitted.bytes, warnings: warnings + fitting.warnings)
    }

    /// Adds `mutable-content` to an alert, without which the app's extension does not run and reports nothing.
    private static func startExtension(_ document: inout PayloadDocument, at root: PayloadPath) throws(PayloadError) {
        let key = root.appending(.key("aps")).appending(.key("mutable-content"))
        guard document.value.value(at: key) == nil else { return }
        try document.apply(document.value.addition(of: .number("1"), at: key))
    }

    /// Adds the neutral object for one prepared file, and `mutable-content`, to a payload that names no media.
    ///
    /// - Throws: `payload.too_large` when it does not fit without its optional parts.
    public static func add(_ manifest: Manifest, to document: PayloadDocument) throws -> WrittenPayload {
        var document = document
        if let aps = document.value["aps"], aps.members != nil, aps["mutable-content"] == nil {
            try document.apply([.set(key: "mutable-content", .number("1"), in: PayloadPath([.key("aps")]))])
        }
        var attachment = PushAttachment(manifest)
        attachment?.id = "0"
        let content = PushContent(attachments: attachment.map { [$0] } ?? [], avatar: manifest.avatar)
        var fitting = FittedPayload(base: document, root: PayloadPath(), content: content, share: .apns(PayloadPath()))
        let fitted = try fitting.fitted()
        return WrittenPayload(bytes: fitted.bytes, warnings: fitting.warnings)
    }

    private static func requestWarnings(_ media: PayloadMedia) -> [PayloadWarning] {
        guard !media.items.isEmpty else { return [] }
        return [
            PayloadWarning(
                .partDropped,
                "This is a request to \(media.dialect.service), which builds the APNs payload from it, so "
                    + "`\(PushContent.key)` is not added and the size is not checked; pass the APNs payload to get "
                    + "both.")
        ]
    }
}

/// A payload with prepared media, and the warnings of writing it.
public struct WrittenPayload: Sendable, Hashable {
    public var bytes: [UInt8]
    /// Warnings about removed media, dropped parts and keys that could not be renamed.
    public var warnings: [PayloadWarning]

    public init(bytes: [UInt8], warnings: [PayloadWarning]) {
        self.bytes = bytes
        self.warnings = warnings
    }
}

extension PayloadMedia {
    /// Whether the input contains an APNs payload, and not only a request from which a service builds one.
    package func hasPayload(in value: PayloadValue) -> Bool {
        guard isTextOnly || !items.isEmpty, value.value(at: root)?.members != nil else { return false }
        return items.first?.location.isRequest != true || value["aps"] != nil
    }
}

/// The result of preparing one media item of a payload.
public enum PreparedMedia: Sendable, Hashable {
    /// The item was prepared and published.
    case ready(Manifest)
    /// The item's URL failed; its fallback URL was prepared and published.
    case fallback(Manifest)
    /// The item failed, and is removed from the payload.
    case failed(ManifestError)
    /// The item was not fetched: a file in the app's bundle, or a URL that only the app can complete.
    case untouched
}
