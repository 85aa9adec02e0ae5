import RichPush
import SafeArithmetic
import Synchronization

/// Stops claims while this machine cannot keep results: a circuit breaker.
///
/// A full disk is no fault of the jobs: those that meet one go back into the queue without an attempt, and no more are
/// claimed until a single one, tried after a pause, has been stored.
struct StorageBreaker: Sendable, Hashable {
    /// What is in the way, and when a job is tried again.
    struct Opening: Sendable, Hashable {
        var code: ErrorCode
        /// A sentence for the operator.
        var reason: String
        var failures: Int
        var retryAt: ContinuousClock.Instant
    }

    /// How many jobs may be claimed.
    enum Allowance: Sendable, Hashable {
        case all
        /// One, when none is in hand.
        case one
        /// None, until the pause is over.
        case none
    }

    /// Nil while results can be kept.
    private(set) var opening: Opening?

    /// The first pause after a failure, doubled for each further one up to the longest: who frees space waits for at
    /// most that, and a disk that stays full costs a download in that time.
    static let (pauseMin, pauseMax) = (Duration.seconds(1), Duration.seconds(30))

    /// Whether an error says that this machine, not the job, is at fault: its disk is full, read-only or broken, or its
    /// database cannot be written for such a reason.
    static func isStorage(_ code: ErrorCode) -> Bool {
        switch code {
        case .outputNoSpace, .outputNotWritable, .queueUnavailable: true
        default: false
        }
    }

    static func pause(failures: Int) -> Duration {
        // Bounded: at most 2^5 seconds.
        min(pauseMin * (1 << min(max(failures.subtracting(clamping: 1), 0), 5)), pauseMax)
    }

    /// A result could not be kept.
    ///
    /// - Returns: whether that is news: the breaker was closed, or the reason is another one.
    mutating func fail(_ error: ManifestError, at now: ContinuousClock.Instant) -> Bool {
        // Jobs that were in hand together fail together: one failure, one pause.
        if let opening, now < opening.retryAt { return opening.code != error.code }
        let failures = (opening?.failures ?? 0).adding(clamping: 1)
        let isNews = opening?.code != error.code
        let pause = Self.pause(failures: failures)
        // Bounded: a moment of now, and at most half a minute.
        opening = Opening(code: error.code, reason: error.message, failures: failures, retryAt: now + pause)
        return isNews
    }

    /// A result was kept.
    ///
    /// - Returns: whether that is news.
    mutating func succeed() -> Bool {
        defer { opening = nil }
        return opening != nil
    }

    func allowance(at now: ContinuousClock.Instant) -> Allowance {
        guard let opening else { return .all }
        return now < opening.retryAt ? .none : .one
    }
}

/// The breaker of a worker, and what the operator reads of it.
final class StorageGate: Sendable {
    private let breaker = Mutex(StorageBreaker())

    /// Why no jobs are claimed; nil while they are.
    var reason: String? { breaker.withLock { $0.opening?.reason } }

    func allowance() -> StorageBreaker.Allowance { breaker.withLock { $0.allowance(at: .now) } }

    func fail(_ error: ManifestError) -> (isNews: Bool, retryIn: Duration) {
        breaker.withLock { breaker in
            let now = ContinuousClock.now
            let isNews = breaker.fail(error, at: now)
            return (isNews, breaker.opening.map { now.duration(to: $0.retryAt) } ?? StorageBreaker.pauseMin)
        }
    }

    func succeed() -> Bool { breaker.withLock { $0.succeed() } }
}
