import SafeArithmetic

/// Whether a dependency is away, and when it is tried again. Pure.
///
/// The first failure closes it for work; then a single trial after each pause finds out whether it is back.
struct CircuitBreaker: Sendable, Hashable {
    /// Why the breaker is open, and when there is another trial.
    struct Opening: Sendable, Hashable {
        /// A sentence for the operator.
        var reason: String
        var failures: Int
        var retryAt: ContinuousClock.Instant
    }

    /// The number of jobs that may be claimed.
    enum Allowance: Sendable, Hashable, Comparable {
        /// None until the pause has ended.
        case none
        /// One beside those that wait with their results: another result may be taken.
        case another
        /// One, when no job is running.
        case one
        case all
    }

    /// Nil while the breaker is closed.
    private(set) var opening: Opening?

    /// The pause after the first failure, doubled for each further one up to the maximum: a dependency that is back is
    /// noticed within 30 s, and one that is away gets one request in that time.
    static let (pauseMin, pauseMax) = (Duration.seconds(1), Duration.seconds(30))
    /// A trial that has not ended after this long is given up, and another one begins.
    private static let trialMax = Duration.seconds(90)

    static func pause(failures: Int) -> Duration {
        min(pauseMin * (1 << min(max(failures.subtracting(clamping: 1), 0), 5)), pauseMax)
    }

    /// Records a failure.
    ///
    /// - Parameter isTrial: whether it is that of a trial; others that began before the breaker opened count as one.
    /// - Returns: Whether to log it: the breaker was closed, or had another reason.
    mutating func recordFailure(_ reason: String, at now: ContinuousClock.Instant, isTrial: Bool = false) -> Bool {
        let isChange = opening?.reason != reason
        if let opening, now < opening.retryAt, !isTrial { return false }
        let failures = (opening?.failures ?? 0).adding(clamping: 1)
        opening = Opening(reason: reason, failures: failures, retryAt: now + Self.pause(failures: failures))
        return isChange
    }

    /// Records that the dependency is back.
    ///
    /// - Returns: Whether the breaker was open.
    mutating func recordSuccess() -> Bool {
        defer { opening = nil }
        return opening != nil
    }

    /// Begins a trial if one is due.
    mutating func beginTrial(at now: ContinuousClock.Instant) -> Bool {
        guard let opening, now >= opening.retryAt else { return false }
        self.opening?.retryAt = now + Self.trialMax
        return true
    }

    /// The number of jobs that may be claimed.
    ///
    /// - Parameter hasProbe: whether trials are made without a job.
    func allowance(at now: ContinuousClock.Instant, hasProbe: Bool) -> Allowance {
        guard let opening else { return .all }
        return now < opening.retryAt || hasProbe ? .none : .one
    }
}
