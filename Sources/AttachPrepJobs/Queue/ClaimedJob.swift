public import AttachPrep

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A job in a worker's hands.
public struct ClaimedJob: Sendable {
    public var job: Job
    /// With its secrets.
    public var request: AttachmentRequest
    public var key: WorkKey
    public var lease: JobLease
    /// Since when it may run: what was fetched later than that is what this job asked for.
    public var dueAt: Date
    /// How many attempts failed before this one.
    public var failures: Int
    /// How many workers have let its lease run out: their process ended, perhaps because of it.
    public var losses: Int

    public init(
        job: Job, request: AttachmentRequest, key: WorkKey, lease: JobLease, dueAt: Date, failures: Int, losses: Int
    ) {
        self.job = job
        self.request = request
        self.key = key
        self.lease = lease
        self.dueAt = dueAt
        self.failures = failures
        self.losses = losses
    }
}
