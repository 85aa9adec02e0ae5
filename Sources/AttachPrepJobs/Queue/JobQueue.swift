public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Durable jobs, each given to one worker at a time: at least once, and with results that are stored once.
///
/// Every call returns when what it did is kept (as durably as the driver was told to), and throws `queue.unavailable`
/// when it cannot be. Each driver passes the suite `JobQueueConformance`.
public protocol JobQueue: Sendable {
    /// Takes in jobs, all of them or none.
    ///
    /// - Returns: the jobs in the order of the submissions; those of an earlier call with the same key and body.
    /// - Throws: `queue.full` when they would pass the driver's limit, `request.conflict` when the key came with
    ///   another body.
    func enqueue(_ submissions: [JobSubmission], idempotency: IdempotencyKey?) async throws -> EnqueuedJobs

    /// Gives at most `count` due jobs to a worker, whose lease on each runs from now; expired leases are taken back
    /// before.
    ///
    /// Lanes take turns so that none starves, and high comes first most often. Not given are jobs of a host that has
    /// `hostLimit` running ones, and jobs whose key is being worked on: what comes of that is theirs, too.
    func claim(_ count: Int, by worker: String, lease: Duration, hostLimit: Int) async throws -> [ClaimedJob]

    /// Renews leases; tells for each how it stands.
    func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStanding]

    /// Ends a job, and puts its webhook into the outbox in the same step.
    ///
    /// - Returns: false when the lease was lost: then nothing has changed.
    func finish(_ lease: JobLease, _ ending: JobEnding, notice: WebhookNotice?) async throws -> Bool

    /// Puts a job whose attempt failed back into the queue, due at a later time.
    ///
    /// - Parameter isAttempt: false when the job is not at fault: it keeps its number of attempts.
    /// - Returns: false when the lease was lost.
    func postpone(_ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool) async throws -> Bool

    /// Puts jobs back as if they had not been claimed: for a worker that leaves.
    func release(_ leases: [JobLease]) async throws

    /// Calls a job off: a queued one ends at once, a running one when its worker hears of it.
    ///
    /// - Throws: `request.not_found`, `request.conflict` when it has finished.
    func cancel(_ id: JobID) async throws -> Job

    /// Queues a failed, dead or cancelled job again, with its attempts and losses counted anew.
    ///
    /// - Throws: `request.not_found`, `request.conflict` in any other state, `queue.full`.
    func retry(_ id: JobID) async throws -> Job

    /// Nil when there is none.
    func job(_ id: JobID) async throws -> Job?

    /// When the next queued job will be due that is not yet; nil when there is none.
    func nextDue() async throws -> Date?
}

extension JobQueue {
    /// The same, of an attempt that counts.
    public func postpone(_ lease: JobLease, until date: Date, error: ManifestError) async throws -> Bool {
        try await postpone(lease, until: date, error: error, isAttempt: true)
    }
}
