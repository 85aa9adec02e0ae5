public import AttachPrep
import AttachPrepModel
import Crypto
public import FoundationEssentials
package import MediaTypes
import SafeArithmetic

/// Decides whether work on a claimed job starts.
enum StartDecision: Sendable, Hashable {
    case begin
    /// The job's `notAfter` has passed.
    case fail(AttachPrepError)
    /// The job lost its worker too often, or waited for a dependency as long as results are kept.
    case markDead(AttachPrepError)

    /// - Parameter overdue: the error of a dependency for which the job has waited too long; nil for other jobs.
    init(losses: Int, notAfter: Date?, overdue: AttachPrepError? = nil, now: Date) {
        if LossPolicy.isDead(losses: losses) {
            self = .markDead(.lostTooOften(losses))
        } else if let notAfter, notAfter <= now {
            self = .fail(.startedTooLate(notAfter))
        } else if let overdue {
            self = .markDead(overdue)
        } else {
            self = .begin
        }
    }
}

/// How long a job may wait for a dependency: until its `notAfter`, or as long as finished jobs are kept.
struct WaitLimit: Sendable, Hashable {
    let notAfter: Date?
    let retentionEnd: Date

    init(_ job: ClaimedJob, retentionSeconds: Double, now: Date) {
        notAfter = job.request.jobOptions.notAfter
        retentionEnd = (job.waitsSince ?? now).addingTimeInterval(retentionSeconds)
    }

    var end: Date { min(notAfter ?? .distantFuture, retentionEnd) }
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

/// How often and when failed attempts are retried, and which ones.
public struct RetryPolicy: Sendable, Hashable {
    /// Maximum number of attempts, including the first.
    public var attemptsMax: Int
    /// Maximum delay after the first failure in seconds, doubled for each further one.
    public var backOffSeconds: Double
    public var backOffSecondsMax: Double
    /// No attempt begins after this time; nil for no limit.
    public var until: Date?
    /// The failures that are retried.
    public var causes: Set<RetryOptions.Cause>
    /// The statuses that mean that media is not there yet.
    public var statuses: Set<Int> = [404]

    public init(_ preset: RetryOptions.Preset = .fast) {
        switch preset {
        case .fast:
            attemptsMax = Limits.jobAttemptsMax
            (backOffSeconds, backOffSecondsMax) = (Limits.jobBackOffSeconds, Limits.jobBackOffSecondsMax)
            causes = [.network, .server, .processing]
        case .patient:
            attemptsMax = Limits.patientAttemptsMax
            (backOffSeconds, backOffSecondsMax) = (Limits.patientBackOffSeconds, Limits.jobBackOffSecondsMax)
            causes = Set(RetryOptions.Cause.allCases)
        }
    }

    /// The policy with what a job or the service's operator has asked for.
    public func applying(_ options: RetryOptions?) -> RetryPolicy {
        guard let options else { return self }
        var policy = options.preset.map { RetryPolicy($0) } ?? self
        policy.attemptsMax = options.attempts ?? policy.attemptsMax
        policy.backOffSeconds = options.backOffSeconds ?? policy.backOffSeconds
        policy.backOffSecondsMax =
            options.backOffSecondsMax ?? max(policy.backOffSecondsMax, options.backOffSeconds ?? 0)
        policy.until = options.until ?? policy.until
        policy.causes = options.causes ?? policy.causes
        if let statuses = options.statuses {
            policy.statuses = statuses
            if options.causes == nil, !statuses.isEmpty { policy.causes.insert(.notThereYet) }
        }
        return policy
    }

    /// Whether a failure is retried.
    ///
    /// - Parameter failures: number of failed attempts, including this one.
    func counts(_ error: ManifestError, failures: Int) -> Bool {
        guard let cause = cause(of: error) else { return false }
        // A file that stays incomplete is a damaged one.
        if error.isOfIncompleteFile, failures >= Limits.incompleteFileAttemptsMax { return false }
        return causes.contains(cause)
    }

    /// The group of a failure; nil for one that no attempt changes.
    private func cause(of error: ManifestError) -> RetryOptions.Cause? {
        if let status = error.status, statuses.contains(status) { return .notThereYet }
        if error.isOfIncompleteFile { return .notThereYet }
        guard error.retryable else { return nil }
        switch error.code {
        case .downloadDNS, .downloadConnect, .downloadTimeout, .downloadTruncated: return .network
        case .downloadHTTPStatus: return .server
        default: return .processing
        }
    }

    /// Returns the maximum delay after a number of failures, in seconds.
    func delayMax(failures: Int) -> Double {
        // The limit is reached long before 2^32.
        min(backOffSeconds * Double(1 << min(max(failures, 1).subtracting(clamping: 1), 32)), backOffSecondsMax)
    }
}

/// Decides what follows a failed attempt.
enum RetryDecision: Sendable, Hashable {
    /// The error is not retried, or `notAfter` leaves no time for another attempt.
    case fail
    /// All attempts are used up, or their time is over.
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
        guard policy.counts(error, failures: failures) else {
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
        if let notAfter, date >= notAfter {
            self = .fail
        } else if let until = policy.until, date >= until {
            self = .markDead
        } else {
            self = .retry(at: date)
        }
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
    /// Attempts of a patient job, including the first: with the back-off they cover some 8 hours, a working day in
    /// which an origin is mended or media is made.
    package static let patientAttemptsMax = 100
    /// Back-off of a patient job after the first failure, doubled for each further one.
    static let patientBackOffSeconds = 10.0
    /// Attempts for a file that is empty or incomplete, as one that is still being uploaded; at 10 s and more apart,
    /// some 40 minutes.
    static let incompleteFileAttemptsMax = 10
}

extension ManifestError {
    /// Whether the source was empty or cannot be decoded, as a file that is still being written.
    fileprivate var isOfIncompleteFile: Bool { code == .mediaEmpty || code == .mediaCorrupt }
}
