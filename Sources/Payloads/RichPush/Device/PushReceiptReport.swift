/// A device's report about one notification that arrived: the body of `POST /v1/receipts`.
///
/// It holds ages and durations instead of timestamps, since the phone's clock may differ from the server's.
public struct PushReceiptReport: Codable, Sendable, Hashable {
    public enum Outcome: String, Codable, Sendable, Hashable, CaseIterable {
        /// An attachment was shown.
        case attached
        /// The thumbnail was shown instead of the attachment.
        case thumbnail
        /// Only the text was shown.
        case text
    }

    /// The receipt token of the payload.
    public var token: String
    /// The device's unique id for this arrival; reports with the same id count once.
    public var id: String
    public var outcome: Outcome
    /// Seconds from the extension's start until the notification was delivered.
    public var attachSeconds: Double
    /// Seconds from then until this report is sent; grows while the report cannot be sent.
    public var ageSeconds: Double

    public init(token: String, id: String, outcome: Outcome, attachSeconds: Double, ageSeconds: Double) {
        self.token = token
        self.id = id
        self.outcome = outcome
        self.attachSeconds = attachSeconds
        self.ageSeconds = ageSeconds
    }
}

extension PushReceiptReport {
    /// Whether a report must not be sent again, because the service accepted it (2xx) or rejected it for good (4xx).
    ///
    /// All other statuses, 408 and 429 are temporary: the report is sent again.
    public static func isFinal(status: Int) -> Bool {
        switch status {
        case 200..<300: true
        case 408, 429: false
        default: (400..<500).contains(status)
        }
    }
}
