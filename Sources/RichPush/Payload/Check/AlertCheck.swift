/// Without something to show iOS does not start the service extension, whatever `mutable-content` says.
enum AlertCheck {
    static func warnings(_ push: PushCheck) -> [PayloadWarning] {
        guard !isAlert(push.aps?["alert"]), !push.hasNotification else { return [] }
        return [PayloadWarning(.alertMissing, sentence(push), level: push.maybeLocal ? .note : nil)]
    }

    private static func sentence(_ push: PushCheck) -> String {
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
            return "alert stands beside aps, not inside it, so \(effect); move it into aps."
        }
        if let key = ["title", "body"].first(where: { aps?[$0]?.string != nil }) {
            return "aps.\(key) stands outside of alert, so \(effect); \(remedy)."
        }
        return "aps.alert is missing, so \(effect); \(remedy)."
    }

    /// A text, or an object with one.
    private static func isAlert(_ alert: PayloadValue?) -> Bool {
        if let text = alert?.string { return !text.isEmpty }
        return textKeys.contains { alert?[$0]?.string?.isEmpty == false }
    }

    private static let textKeys = [
        "title", "subtitle", "body", "loc-key", "title-loc-key", "subtitle-loc-key",
    ]
}
