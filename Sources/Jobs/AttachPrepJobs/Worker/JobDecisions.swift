import AttachPrep
import AttachPrepModel
import Crypto
import FoundationEssentials
package import RichPush
import SafeArithmetic

/// Decides whether work on a claimed job starts.
enum StartDecision: Sendable, Hashable {
    case begin
    /// The job's `notAfter` has passed.
    case fail(AttachPrepError)
    /// The job lost its worker too often.
    case markDead(AttachPrepError)

    init(losses: Int, notAfter: Date?, now: Date) {
        if LossPolicy.isDead(losses: losses) {
            self = .markDead(.lostTooOften(losses))
        } else if let notAfter, notAfter <= now {
            self = .fail(.startedTooLate(notAfter))
        } else {
            self = .begin
        }
    }
}

extension AttachPrepError {
    fileprivate static func startedTooLate(_ date: Date) -> AttachPrepError {
        AttachPrepError(
            .deadlineNotAfter,
            "The job's notAfter, \(Timestamp.text(date)), passed before work on it began; set a later notAfter.")
    }

    /// - Parameter date: the job's notAfter.
    static func deadlineShortened(_ date: Date) -> AttachPrepError {
        AttachPrepError(
            .deadlineNotAfter,
            "The job's notAfter, \(Timestamp.text(date)), passed during the work on it; set a later notAfter.")
    }
}

/// Decides whether a job can use a stored result.
enum ReuseDecision: Hashable, Sendable {
    /// No usable result: fetch the source.
    case fetch
    /// Use the stored result.
    case use(Kind)
    /// Ask the source's server whether the stored result is still current.
    case revalidate(SourceValidators)

    /// Why a stored result can be used.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It was fetched after the job became due: one download serves several jobs.
        case shared
        /// It was fetched earlier and is still fresh.
        case fresh
        /// It was fetched earlier, and the server confirmed that the source is unchanged.
        case unchanged
    }

    /// Tolerance for clock steps, in seconds.
    private static let clockSecondsSlack = 1.0

    /// - Parameters:
    ///   - dueAt: results fetched later satisfy the job, including failures.
    ///   - isUpload: whether the source is an upload, which never changes.
    ///   - createdAt: when the job was submitted; a retried job was submitted long before it is due.
    init(_ stored: StoredResult?, dueAt: Date, createdAt: Date = .distantPast, isUpload: Bool, now: Date) {
        // A fetch time in the future was written before the clock was set back; its age is unknown.
        guard let stored, stored.fetchedAt <= now.addingTimeInterval(Self.clockSecondsSlack) else {
            self = .fetch
            return
        }
        if stored.fetchedAt >= dueAt || stored.isLoss(for: createdAt, now: now) {
            self = .use(.shared)
        } else if !stored.isLasting {
            self = .fetch
        } else if isUpload || stored.freshness?.freshUntil.map({ now < $0 }) ?? false {
            self = .use(.fresh)
        } else if let validators = stored.freshness?.validators {
            self = .revalidate(validators)
        } else {
            self = .fetch
        }
    }
}

extension StoredResult {
    /// For this many seconds after a job was given up because of its losses, other jobs for the same work end without
    /// a new attempt; only a retry of a job that was submitted before that runs again.
    private static let lossSeconds = 3_600.0

    fileprivate func isLoss(for createdAt: Date, now: Date) -> Bool {
        manifest.error?.code == .jobWorkerLost && createdAt > fetchedAt
            && now < fetchedAt.addingTimeInterval(Self.lossSeconds)
    }

    /// Whether later jobs may use it: a failure may be temporary, and a best attempt can be improved.
    fileprivate var isLasting: Bool { manifest.error == nil && manifest.outcome != .bestAttempt }
}

/// How often and when failed attempts are retried.
public struct RetryPolicy: Sendable, Hashable {
    /// Maximum number of attempts, including the first.
    public var attemptsMax = Limits.jobAttemptsMax
    /// Maximum delay after the first failure in seconds, doubled for each further one.
    public var backOffSeconds = Limits.jobBackOffSeconds
    public var backOffSecondsMax = Limits.jobBackOffSecondsMax

    public init() {}

    /// Returns the maximum delay after a number of failures, in seconds.
    func delayMax(failures: Int) -> Double {
        // The limit is reached long before 2^32.
        min(backOffSeconds * Double(1 << min(max(failures, 1).subtracting(clamping: 1), 32)), backOffSecondsMax)
    }
}

/// Decides what follows a failed attempt.
enum RetryDecision: Sendable, Hashable {
    /// The error is permanent, or `notAfter` leaves no time for another attempt.
    case fail
    /// All attempts are used up.
    case markDead
    case retry(at: Date)

    /// Minimum delay in seconds: more than the millisecond resolution of the stores, so that the next attempt does not
    /// reuse the stored failure.
    static let secondsMin = 0.005

    /// - Parameters:
    ///   - failures: failed attempts of this job, including this one.
    ///   - failedAt: when the failure occurred; jobs that share it wait from the same time.
    ///   - chance: a number in 0..<1 for full jitter, so that jobs that failed together are not retried together.
    init(
        after error: ManifestError, failures: Int, notAfter: Date?, policy: RetryPolicy, failedAt: Date, now: Date,
        chance: Double
    ) {
        guard error.retryable else {
            self = .fail
            return
        }
        guard failures < policy.attemptsMax else {
            self = .markDead
            return
        }
        // A failure in the future was recorded before the clock was set back.
        let start = failedAt <= now ? failedAt : now
        let wait = policy.delayMax(failures: failures) * chance
        let date = max(now.addingTimeInterval(Self.secondsMin), start.addingTimeInterval(wait))
        self = notAfter.map { date < $0 } ?? true ? .retry(at: date) : .fail
    }

    /// Derives the jitter from the work key and the time of failure: jobs that share a failure are retried together
    /// with one download, different work at different times.
    static func chance(_ key: WorkKey, failedAt: Date) -> Double {
        let name = "\(key.text) \(Int(clamping: (failedAt.timeIntervalSince1970 * 1000).rounded()))"
        let start = SHA256.hash(data: Array(name.utf8)).prefix(6)
        return start.reduce(0) { $0 * 256 + Double($1) } / 281_474_976_710_656
    }
}

extension Limits {
    /// Attempts of a job, including the first: with the back-off, they cover less than a minute of an origin's outage;
    /// later media would miss its notification.
    package static let jobAttemptsMax = 5
    /// Back-off after the first failure; doubled for each further one, with random jitter.
    static let jobBackOffSeconds = 5.0
    /// The longest back-off.
    package static let jobBackOffSecondsMax = 600.0
}
