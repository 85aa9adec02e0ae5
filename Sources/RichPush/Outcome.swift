/// What became of a request.
public enum Outcome: String, Codable, Sendable, Hashable, CaseIterable {
    /// Attachable as it is; delivered byte for byte.
    case passed
    /// Not an attachable type; written anew as one.
    case converted
    /// Attachable but over the limit; written anew under it.
    case shrunk
    /// The deadline forced less than was asked for.
    case bestAttempt
    /// Nothing can be delivered; the error says why.
    case rejected
}
