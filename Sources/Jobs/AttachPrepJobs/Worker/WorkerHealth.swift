import AttachPrepModel
import Logging
import RichPush
import SafeArithmetic
import Synchronization

public enum WorkerHealth: Sendable, Hashable {
    /// Not started yet.
    case starting
    case ok
    /// The store is unavailable, or results cannot be stored; a sentence for the operator.
    case unavailable(String)
    /// Shutting down; claims no more jobs.
    case draining

    /// Why the worker does not claim jobs; nil when it does.
    public var reason: String? {
        switch self {
        case .starting: "The worker has not started yet."
        case .ok: nil
        case .unavailable(let reason): reason
        case .draining: "The worker is shutting down."
        }
    }
}

/// Tracks whether the store is available, from the results of the worker's calls; logs each change once.
final class StoreAvailability: Sendable {
    private let state = Mutex(WorkerHealth.starting)
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    var health: WorkerHealth { state.withLock { $0 } }

    func answered() {
        let previous = become(.ok)
        if case .unavailable = previous { logger.notice("the job store is available again") }
    }

    func failed(_ error: any Error) {
        let sentence = (error as? AttachPrepError)?.message ?? "The job store is unavailable; see the log."
        let previous = become(.unavailable(sentence))
        if case .unavailable = previous { return }
        logger.error("the job store is unavailable", metadata: ["error": "\(error)"])
    }

    func leave() {
        state.withLock { $0 = .draining }
    }

    private func become(_ health: WorkerHealth) -> WorkerHealth {
        state.withLock { state in
            defer { if state != .draining { state = health } }
            return state
        }
    }
}

/// A circuit breaker that pauses claiming while this machine cannot store results.
///
/// A full disk is not caused by the jobs: jobs that fail because of it return to the queue without counting the
/// attempt, and no more are claimed until a single one, tried after a pause, has been stored.
struct StorageCircuitBreaker: Sendable, Hashable {
    /// Why the breaker is open, and when a job is tried again.
    struct Opening: Sendable, Hashable {
        var code: ErrorCode
        /// A sentence for the operator.
        var reason: String
        var failures: Int
        var retryAt: ContinuousClock.Instant
    }

    /// The number of jobs that may be claimed.
    enum Allowance: Sendable, Hashable {
        case all
        /// One, when no job is running.
        case one
        /// None until the pause has ended.
        case none
    }

    /// Nil while the breaker is closed.
    private(set) var opening: Opening?

    /// The pause after the first failure, doubled for each further one up to the maximum: freed space is noticed within
    /// 30 s, and a full disk costs one download in that time.
    static let (pauseMin, pauseMax) = (Duration.seconds(1), Duration.seconds(30))

    /// Whether an error is caused by this machine, not by the job: a full, read-only or failing disk, or a database
    /// that cannot be written.
    static func isStorage(_ code: ErrorCode) -> Bool {
        switch code {
        case .outputNoSpace, .outputNotWritable, .queueUnavailable: true
        default: false
        }
    }

    static func pause(failures: Int) -> Duration {
        min(pauseMin * (1 << min(max(failures.subtracting(clamping: 1), 0), 5)), pauseMax)
    }

    /// Records that a result could not be stored.
    ///
    /// - Returns: Whether to log it: the breaker was closed, or had another reason.
    mutating func recordFailure(_ error: ManifestError, at now: ContinuousClock.Instant) -> Bool {
        // Jobs that ran at the same time fail at the same time; they count as one failure.
        if let opening, now < opening.retryAt { return opening.code != error.code }
        let failures = (opening?.failures ?? 0).adding(clamping: 1)
        let isChange = opening?.code != error.code
        let pause = Self.pause(failures: failures)
        opening = Opening(code: error.code, reason: error.message, failures: failures, retryAt: now + pause)
        return isChange
    }

    /// Records that a result was stored.
    ///
    /// - Returns: Whether the breaker was open.
    mutating func recordSuccess() -> Bool {
        defer { opening = nil }
        return opening != nil
    }

    func allowance(at now: ContinuousClock.Instant) -> Allowance {
        guard let opening else { return .all }
        return now < opening.retryAt ? .none : .one
    }
}

/// The breaker of a worker, with the reason for the operator.
final class StorageGate: Sendable {
    private let breaker = Mutex(StorageCircuitBreaker())

    /// Why claiming is paused; nil while it is not.
    var reason: String? { breaker.withLock { $0.opening?.reason } }

    func allowance() -> StorageCircuitBreaker.Allowance { breaker.withLock { $0.allowance(at: .now) } }

    func recordFailure(_ error: ManifestError) -> (isChange: Bool, retryIn: Duration) {
        breaker.withLock { breaker in
            let now = ContinuousClock.now
            let isChange = breaker.recordFailure(error, at: now)
            return (isChange, breaker.opening.map { now.duration(to: $0.retryAt) } ?? StorageCircuitBreaker.pauseMin)
        }
    }

    func recordSuccess() -> Bool { breaker.withLock { $0.recordSuccess() } }
}
