/// What a device says of one notification that arrived: the body of `POST /v1/receipts`.
///
/// Ages and durations instead of times of day, since a phone's clock need not agree with the server's.
public struct PushReceiptReport: Codable, Sendable, Hashable {
    public enum Outcome: String, Codable, Sendable, Hashable, CaseIterable {
        /// An attachment was shown.
        case attached
        /// The thumbnail was shown in its place.
        case thumbnail
        /// The text alone was shown.
        case text
    }

    /// The payload's.
    public var token: String
    /// The device's own name for this arrival, made once: said twice, it counts once.
    public var id: String
    public var outcome: Outcome
    /// From the extension's start until the notification was handed over, in seconds.
    public var attachSeconds: Double
    /// From then until this report is sent, in seconds; grows while the report cannot be delivered.
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
    /// Whether a report need not be sent again: the service took it, or never will.
    ///
    /// What passes with time stays: 408, 429, a server's own trouble, and whatever else is no word of the service's.
    public static func isTaken(status: Int) -> Bool {
        switch status {
        case 200..<300: true
        case 408, 429: false
        default: (400..<500).contains(status)
        }
    }
}
