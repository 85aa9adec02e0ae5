public import AttachPrep
public import AttachPrepModel
public import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// A durable job queue: each job is leased to one worker at a time, with at-least-once execution and results stored
/// once.
///
/// Every call returns when its change is committed, with the durability that the store was configured with, and throws
/// `queue.unavailable` when it cannot be. The suite `JobQueueConformance` runs on each database.
public protocol JobQueue: Sendable {
    /// Adds jobs, all of them or none.
    ///
    /// - Returns: The jobs in the order of the submissions; the jobs of an earlier call with the same key and body.
    /// - Throws: `queue.full` when they would exceed the store's limit, `request.conflict` when the key was used with
    ///   a different body.
    func enqueue(_ submissions: [JobSubmission], idempotency: IdempotencyKey?) async throws -> EnqueuedJobs

    /// Claims at most `count` due jobs for a worker, each with a lease that starts now; expired leases are reclaimed
    /// first, and count as losses unless the store was unreachable for their renewal.
    ///
    /// Lanes rotate so that none starves, with most claims for `high`. Skipped are jobs of a host that has as many
    /// running jobs as `hostLimit` allows, and jobs whose work key is running: they can use its result.
    func claim(_ count: Int, by worker: String, lease: Duration, hostLimit: Int) async throws -> [ClaimedJob]

    /// Claims at most `count` queued jobs that may not start any more, whatever holds others up: their `notAfter` has
    /// passed, or they have waited for a dependency for `waitSecondsMax`. The worker ends them without an attempt.
    func claimOverdue(_ count: Int, by worker: String, lease: Duration, waitSecondsMax: Double) async throws
        -> [ClaimedJob]

    /// Renews leases and returns the status of each.
    func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus]

    /// Ends a job, adds its webhook to the outbox and stores log lines, atomically.
    ///
    /// - Parameter lines: log lines of the job, so that whoever sees the end also sees what led to it.
    /// - Returns: False when the lease was lost; only the log lines were stored then.
    func finish(
        _ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?, lines: [JobLogLine]
    ) async throws -> Bool

    /// Returns a job whose attempt failed to the queue, due at a later time.
    ///
    /// - Parameter isAttempt: false when the job did not cause the failure; its number of attempts then stays the same,
    ///   and it counts as waiting from the first such call on.
    /// - Returns: False when the lease was lost.
    func postpone(_ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool) async throws -> Bool

    /// Returns jobs to the queue as if they had not been claimed; for a worker that shuts down.
    func release(_ leases: [JobLease]) async throws

    /// Cancels a job: a queued job ends at once, a running one when its worker receives the cancellation.
    ///
    /// - Throws: `request.not_found`, `request.conflict` when it has finished.
    func cancel(_ id: JobID) async throws -> Job

    /// Queues a failed, dead or cancelled job again and resets its attempts and losses to zero.
    ///
    /// - Throws: `request.not_found`, `request.conflict` in any other state, `queue.full`.
    func retry(_ id: JobID) async throws -> Job

    /// Gives a queued job a time before which it does not start: its `notBefore`. Nil lets it start now, also when it
    /// waits for its next attempt.
    ///
    /// - Throws: `request.not_found`, `request.conflict` in any other state, `request.invalid` for a time that is not
    ///   before the job's `notAfter`.
    func schedule(_ id: JobID, notBefore: Date?) async throws -> Job

    /// Returns a job; nil when there is no job with this id.
    func job(_ id: JobID) async throws -> Job?

    /// Returns when the next queued job becomes due that is not due yet; nil when there is none.
    func nextDue() async throws -> Date?
}

extension JobQueue {
    /// Ends a job and adds its webhook to the outbox, atomically.
    public func finish(_ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?) async throws -> Bool {
        try await finish(lease, ending, notice: notice, lines: [])
    }

    /// Postpones a job and counts the attempt.
    public func postpone(_ lease: JobLease, until date: Date, error: ManifestError) async throws -> Bool {
        try await postpone(lease, until: date, error: error, isAttempt: true)
    }
}

/// A job on which a worker holds a lease.
public struct ClaimedJob: Sendable {
    public var job: Job
    /// The request with its secrets.
    public var request: AttachmentRequest
    public var key: WorkKey
    public var lease: JobLease
    /// When the job became due; a result that was fetched later satisfies it.
    public var dueAt: Date
    /// Number of earlier attempts that failed.
    public var failures: Int
    /// Number of workers that were lost while they had it: killed, crashed or frozen.
    public var losses: Int
    /// Since when it waits for a dependency that is away; nil for other jobs.
    public var waitsSince: Date?

    public init(
        job: Job, request: AttachmentRequest, key: WorkKey, lease: JobLease, dueAt: Date, failures: Int, losses: Int,
        waitsSince: Date? = nil
    ) {
        self.job = job
        self.request = request
        self.key = key
        self.lease = lease
        self.dueAt = dueAt
        self.failures = failures
        self.losses = losses
        self.waitsSince = waitsSince
    }
}

extension ClaimedJob {
    /// Computes the earlier attempts that failed from the stored counters.
    package static func failures(attempts: Int, losses: Int) -> Int {
        max(0, attempts.subtracting(clamping: 1).subtracting(clamping: losses))
    }
}

/// A worker's time-limited right to a job; each claim of a job has its own token.
public struct JobLease: Sendable, Hashable {
    public let job: JobID
    public let token: Int64

    public init(job: JobID, token: Int64) {
        self.job = job
        self.token = token
    }
}

/// The status of a lease after a renewal.
public enum LeaseStatus: Sendable, Hashable {
    case held
    /// Held, but the job was cancelled: finish it as cancelled.
    case cancelled
    /// Another worker has the job, or it has ended.
    case lost
}

/// How a job ends.
public enum JobCompletion: Sendable {
    /// An attachment exists; its files are stored under the media id.
    case succeeded(Manifest, MediaID)
    /// A permanent error, with a rejected manifest.
    case failed(Manifest)
    /// All retries were used up.
    case dead(Manifest)
    case cancelled

    var state: JobState {
        switch self {
        case .succeeded: .succeeded
        case .failed: .failed
        case .dead: .dead
        case .cancelled: .cancelled
        }
    }
}
