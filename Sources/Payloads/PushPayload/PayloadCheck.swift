import AttachPrepModel
public import RichPush

/// Checks a payload for what iOS or an app's SDK would drop or show wrongly.
public enum PayloadCheck {
    /// The warnings for a payload: those about `aps` first, then those about each media item in order.
    ///
    /// - Parameters:
    ///   - media: The media found in the payload; nil when there is none.
    ///   - targets: The systems that the request names.
    public static func warnings(
        for payload: PayloadValue, media: PayloadMedia?, targets: Set<MediaTarget> = [.ios]
    ) -> [PayloadWarning] {
        let push = CheckedPayload(payload, media)
        let checks = [MutableContentCheck.warnings, AlertCheck.warnings, CategoryCheck.warnings]
        let startsExtension = media.map { !$0.isLiveActivity && ($0.isTextOnly || !$0.items.isEmpty) } ?? true
        let ofPush = push.isRequest || !startsExtension ? [] : checks.flatMap { $0(push) }
        let ofMedia = (media?.items ?? []).flatMap { item in
            MediaItemCheck.all.flatMap { $0(CheckedItem(item, dialect: media?.dialect, in: payload)) }
        }
        let ofOthers = media.map { TargetCheck.warnings(for: payload, media: $0, targets: targets) } ?? []
        return (ofPush + ofMedia + ofOthers).reduce(into: []) { warnings, warning in
            if !warnings.contains(warning) { warnings.append(warning) }
        }
    }
}

/// Checks the sizes of what each system receives.
extension PayloadCheck {
    /// The warnings about the size of a document, as it is.
    public static func sizeWarnings(for document: PayloadDocument, media: PayloadMedia) -> [PayloadWarning] {
        let shares = [PayloadShare(media)] + PayloadShare.others(media, in: document.value)
        let over = shares.compactMap { share -> PayloadWarning? in
            guard let bytes = try? share.bytes(of: document), bytes > share.bytesMax else { return nil }
            return PayloadWarning(
                .tooLarge,
                "The payload has \(bytes.grouped) bytes for \(share.service), over the limit of "
                    + "\(share.bytesMax.grouped); shorten texts or remove keys.")
        }
        guard over.isEmpty else { return over }
        let bytes = document.compacted().bytes.count
        if media.isWebPush, document.bytes.count > Limits.webPushBytesMaxOfFirefoxOnAndroid {
            return [
                PayloadWarning(
                    .tooLarge,
                    "The message has \(document.bytes.count.grouped) bytes, and Mozilla's push service rejects more "
                        + "than some \(Limits.webPushBytesMaxOfFirefoxOnAndroid.grouped) for Firefox on Android; "
                        + "shorten it.",
                    level: .warning)
            ]
        }
        guard PayloadShare.messagePath(media) != nil, bytes > Limits.payloadBytesMax else { return [] }
        return [
            PayloadWarning(
                .tooLarge,
                "The message has \(bytes.grouped) bytes for all systems together; each of them receives at most "
                    + "\(Limits.payloadBytesMax.grouped), which is allowed.", level: .note)
        ]
    }
}

/// A payload, and the APNs payload in it.
struct CheckedPayload {
    /// The whole input, with any envelope.
    let payload: PayloadValue
    /// The APNs payload.
    let top: PayloadValue
    /// Whether the input is a request from which the service builds the APNs payload.
    let isRequest: Bool
    /// Whether the input is a message that Firebase's Admin SDKs take, with the keys of their language: the API itself
    /// takes none without `message` around it.
    let isSDKMessage: Bool
    /// Whether the input is an FCM request with a `notification`, which FCM turns into an alert.
    let hasNotification: Bool

    var aps: PayloadValue? { top["aps"] }

    /// Whether the payload may belong to a local notification: it has no key of a remote one.
    var maybeLocal: Bool {
        aps == nil && !["alert", "mutable-content", "mutable_content", "mutableContent"].contains { top[$0] != nil }
    }

    init(_ payload: PayloadValue, _ media: PayloadMedia?) {
        let root = media.map(\.root) ?? Self.likelyRoot(payload)
        self.payload = payload
        top = payload.value(at: root) ?? .object([])
        isSDKMessage = root == PayloadPath([.key("apns"), .key("payload")])
        isRequest = top["aps"] == nil && media?.items.first?.location.isRequest == true
        let request = root.steps.first == .key("message") ? payload["message"] : payload
        hasNotification =
            !root.steps.isEmpty
            && ["title", "body"].contains { request?["notification"]?[$0]?.string?.isEmpty == false }
    }

    /// The first envelope that contains `aps`, for payloads without media.
    private static func likelyRoot(_ payload: PayloadValue) -> PayloadPath {
        PayloadEnvelope.roots.first { payload.value(at: $0)?["aps"] != nil } ?? PayloadPath()
    }
}

/// Checks that `aps.mutable-content` is 1 (number or string): else iOS does not start the service extension.
enum MutableContentCheck {
    static func warnings(_ push: CheckedPayload) -> [PayloadWarning] {
        // `mutableContent` of Node and `mutable_content` of Python, which the SDKs rename.
        if push.isSDKMessage, ["mutableContent", "mutable_content"].contains(where: { push.aps?[$0] == .bool(true) }) {
            return []
        }
        if push.aps?["mutable-content"] == .bool(true) {
            return [
                PayloadWarning(
                    .mutableContentSpelling,
                    "aps.mutable-content is true, and Apple documents the number 1; write \"mutable-content\": 1.")
            ]
        }
        guard let reason = reason(push) else { return [] }
        return [
            PayloadWarning(
                .mutableContentMissing,
                "\(reason), so iOS does not start the app's service extension and shows the notification without "
                    + "media; write \"mutable-content\": 1 inside aps.",
                level: push.maybeLocal ? .note : nil)
        ]
    }

    private static func reason(_ push: CheckedPayload) -> String? {
        guard let aps = push.aps else {
            return misplacement(in: push) ?? "The payload has no aps, where mutable-content belongs"
        }
        guard let value = aps["mutable-content"] else {
            return misplacement(in: push) ?? "aps.mutable-content is missing"
        }
        if value.double == 1 || value == .string("1") { return nil }
        return value.string?.lowercased() == "true"
            ? "aps.mutable-content is \"true\" instead of the number 1" : "aps.mutable-content is not the number 1"
    }

    /// The wrong spelling or position of the key, if one is found.
    private static func misplacement(in push: CheckedPayload) -> String? {
        let aps = push.aps
        if let key = spellings.first(where: { aps?[$0] != nil }) {
            return "aps.\(key) is not how iOS spells it (mutable-content, with a hyphen)"
        }
        for key in ["mutable-content"] + spellings {
            if push.top[key] != nil { return "\(key) is beside aps, not inside it" }
            if push.payload[key] != nil { return "\(key) is at the top of the request, not in its aps" }
            if aps?["alert"]?[key] != nil { return "\(key) is in aps.alert, not directly in aps" }
        }
        return nil
    }

    /// Common misspellings, taken from other APIs.
    private static let spellings = [
        "mutable_content", "mutableContent", "mutablecontent", "mutable content", "Mutable-Content", "isMutableContent",
    ]
}

/// Checks that there is an alert: without one, iOS does not start the service extension, even with `mutable-content`.
enum AlertCheck {
    static func warnings(_ push: CheckedPayload) -> [PayloadWarning] {
        guard !isAlert(push.aps?["alert"]), !push.hasNotification else { return [] }
        return [PayloadWarning(.alertMissing, sentence(push), level: push.maybeLocal ? .note : nil)]
    }

    private static func sentence(_ push: CheckedPayload) -> String {
        let aps = push.aps
        let effect = "iOS shows nothing and does not start the app's service extension"
        let remedy = "write \"alert\": {\"title\": \"…\", \"body\": \"…\"} inside aps"
        if let value = aps?["content-available"], value.double == 1 || value == .string("1") {
            return "The push is silent (aps.content-available without aps.alert), so \(effect); \(remedy)."
        }
        if let alert = aps?["alert"], alert != .null {
            return "aps.alert holds no text, so \(effect); \(remedy)."
        }
        if isAlert(push.top["alert"]) {
            return "alert is beside aps, not inside it, so \(effect); move it into aps."
        }
        if let key = ["title", "body"].first(where: { aps?[$0]?.string != nil }) {
            return "aps.\(key) is outside of alert, so \(effect); \(remedy)."
        }
        return "aps.alert is missing, so \(effect); \(remedy)."
    }

    /// Whether the value is a text or an object with a text.
    private static func isAlert(_ alert: PayloadValue?) -> Bool {
        if let text = alert?.string { return !text.isEmpty }
        return textKeys.contains { alert?[$0]?.string?.isEmpty == false }
    }

    private static let textKeys = [
        "title", "subtitle", "body", "loc-key", "title-loc-key", "subtitle-loc-key",
    ]
}

/// Checks for a category, which may belong to a notification content extension that draws the notification itself.
enum CategoryCheck {
    static func warnings(_ push: CheckedPayload) -> [PayloadWarning] {
        guard let category = push.aps?["category"]?.string, !PrintableText.trimmed(category).isEmpty else { return [] }
        return [
            PayloadWarning(
                .contentExtension,
                "aps.category is \(PrintableText.quoted(category)): when a notification content extension of the app "
                    + "handles this category, iOS shows no thumbnail in the collapsed notification, and the extension "
                    + "draws the expanded one; either send media with a category that no extension handles, or let "
                    + "the extension draw the attachments, as samples/NotificationContent does.")
        ]
    }
}
