/// Whether a worker can work.
public enum WorkerHealth: Sendable, Hashable {
    /// Not begun yet.
    case starting
    case ok
    /// The store does not answer, or results cannot be kept; a sentence for the operator.
    case unavailable(String)
    /// Takes no new jobs.
    case draining

    /// Whether it takes jobs.
    public var isOK: Bool { self == .ok }

    /// Why it does not; nil when it does.
    public var reason: String? {
        switch self {
        case .starting: "The worker has not begun yet."
        case .ok: nil
        case .unavailable(let reason): reason
        case .draining: "The worker is leaving."
        }
    }
}
