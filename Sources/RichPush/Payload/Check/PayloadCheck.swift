/// What a sender should know before sending: what iOS or an app's SDK would do with the payload, and the remedy.
public enum PayloadCheck {
    /// Everything that is wrong or doubtful, `aps` first, then the media in their order.
    ///
    /// - Parameter media: what was found; nil for a payload without media.
    public static func warnings(for payload: PayloadValue, media: PayloadMedia?) -> [PayloadWarning] {
        let push = PushCheck(payload, media)
        let checks = [MutableContentCheck.warnings, AlertCheck.warnings, CategoryCheck.warnings]
        let ofPush = push.isRequest ? [] : checks.flatMap { $0(push) }
        let ofMedia = (media?.items ?? []).flatMap { item in
            ItemCheck.all.flatMap { $0(CheckedItem(item, dialect: media?.dialect, in: payload)) }
        }
        // Bounded: lists.
        return (ofPush + ofMedia).reduce(into: []) { warnings, warning in
            if !warnings.contains(warning) { warnings.append(warning) }
        }
    }
}

/// The part of a payload that iOS looks at.
struct PushCheck {
    /// The whole of what was handed over.
    let payload: PayloadValue
    /// The APNs payload's top.
    let top: PayloadValue
    /// A request of which the service makes the APNs payload itself.
    let isRequest: Bool
    /// What Firebase's SDKs take: their names for Apple's keys are in camel case.
    let isCamelCase: Bool
    /// An FCM request: Google makes an alert of its `notification`.
    let hasNotification: Bool

    var aps: PayloadValue? { top["aps"] }

    /// What an app may show by itself, as a local notification: nothing in it is a push's.
    var maybeLocal: Bool {
        aps == nil && !["alert", "mutable-content", "mutable_content", "mutableContent"].contains { top[$0] != nil }
    }

    init(_ payload: PayloadValue, _ media: PayloadMedia?) {
        let root = media.map(\.root) ?? Self.likelyRoot(payload)
        self.payload = payload
        top = payload.standing(at: root) ?? .object([])
        isCamelCase = media?.dialect.name == PayloadDialect.firebaseAdmin
        isRequest = top["aps"] == nil && media?.items.first?.place.isRequest == true
        let request = root.steps.first == .key("message") ? payload["message"] : payload
        hasNotification =
            !root.steps.isEmpty
            && ["title", "body"].contains { request?["notification"]?[$0]?.string?.isEmpty == false }
    }

    /// Without media: the first envelope with an `aps` in it.
    private static func likelyRoot(_ payload: PayloadValue) -> PayloadPath {
        PayloadEnvelope.roots.first { payload.standing(at: $0)?["aps"] != nil } ?? PayloadPath()
    }
}
