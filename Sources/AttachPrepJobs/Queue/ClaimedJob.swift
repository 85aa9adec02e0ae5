public import AttachPrep
import SafeArithmetic

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A job that a worker holds the lease of.
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
    /// How many workers have lost it without proof of a crash: killed, out of memory, or their machine went down.
    public var losses: Int
    /// How many processes have crashed while they had it.
    public var crashes: Int

    public init(
        job: Job, request: AttachmentRequest, key: WorkKey, lease: JobLease, dueAt: Date, failures: Int, losses: Int,
        crashes: Int = 0
    ) {
        self.job = job
        self.request = request
        self.key = key
        self.lease = lease
        self.dueAt = dueAt
        self.failures = failures
        self.losses = losses
        self.crashes = crashes
    }
}

extension ClaimedJob {
    /// Attempts before this one that failed, of the numbers that a database or a queue holds.
    static func failures(attempts: Int, losses: Int, crashes: Int) -> Int {
        max(0, attempts.subtracting(clamping: 1).subtracting(clamping: losses).subtracting(clamping: crashes))
    }
}
