/// Whether work can be taken in and done, and what stands in its way.
public struct ReadinessReport: Codable, Sendable, Hashable {
    public var ready: Bool
    /// Sentences; empty when ready.
    public var reasons: [String]

    public init(reasons: [String] = []) {
        ready = reasons.isEmpty
        self.reasons = reasons
    }
}
