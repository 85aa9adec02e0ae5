import HTTPTypes
import RichPush

/// What a caller would like (RFC 7240): `wait=10`.
struct Preference {
    /// Whole seconds; nil when none are asked for. What is not understood is no preference.
    let waitSeconds: Int?

    init(_ fields: [String]) {
        let words = fields.flatMap { $0.split(separator: ",") }.compactMap { $0.split(separator: ";").first }
        let waits = words.map { $0.trimmingSpaces().lowercased() }.filter { $0.hasPrefix("wait=") }
        // Bounded: text, and what it gives is optional.
        waitSeconds = waits.first.flatMap { Int($0.dropFirst(5)) }.flatMap { seconds in
            seconds < 0 ? nil : min(seconds, Int(Limits.preferredWaitSecondsMax))
        }
    }
}
