import Crypto
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// When a job whose attempt failed is tried again.
public struct RetryPolicy: Sendable, Hashable {
    /// The first one included.
    public var attemptsMax = Limits.jobAttemptsMax
    /// The longest wait after a first failure, in seconds; doubled for each further one.
    public var backOffSeconds = Limits.jobBackOffSeconds
    public var backOffSecondsMax = Limits.jobBackOffSecondsMax

    public init() {}

    /// The longest wait after that many failures, in seconds.
    func ceiling(failures: Int) -> Double {
        // Past 2^32 any back-off has reached its limit.
        min(backOffSeconds * Double(1 << min(max(failures, 1).subtracting(clamping: 1), 32)), backOffSecondsMax)
    }
}

/// What a failed attempt leads to: pure.
enum RetryDecision: Sendable, Hashable {
    /// The error is one that stays, or no further attempt would begin in time.
    case fail
    /// Attempts are used up.
    case die
    case retry(at: Date)

    /// The next attempt is due after the failure, by the milliseconds of any store: else the failure would be its own.
    static let secondsMin = 0.005

    /// - Parameters:
    ///   - failures: of this job, this one included.
    ///   - failedAt: since when the failure is known: those who share it wait from the same time on.
    ///   - chance: a number in 0..<1: full jitter, so that jobs that failed together do not return together.
    init(
        after error: ManifestError, failures: Int, notAfter: Date?, policy: RetryPolicy, failedAt: Date, now: Date,
        chance: Double
    ) {
        guard error.retryable else {
            self = .fail
            return
        }
        guard failures < policy.attemptsMax else {
            self = .die
            return
        }
        // A failure of the future is one of before a clock was put back.
        let start = failedAt <= now ? failedAt : now
        let wait = policy.ceiling(failures: failures) * chance  // Bounded: floating-point numbers.
        let date = max(now.addingTimeInterval(Self.secondsMin), start.addingTimeInterval(wait))
        self = notAfter.map { date < $0 } ?? true ? .retry(at: date) : .fail
    }

    /// The chance of a failure: the same for all jobs that share it, so that their next try is one download again, and
    /// any for different work.
    static func chance(_ key: WorkKey, failedAt: Date) -> Double {
        let name = "\(key.text) \(Int(clamping: (failedAt.timeIntervalSince1970 * 1000).rounded()))"
        let start = SHA256.hash(data: Array(name.utf8)).prefix(6)
        return start.reduce(0) { $0 * 256 + Double($1) } / 281_474_976_710_656  // Bounded: floating-point numbers.
    }
}
