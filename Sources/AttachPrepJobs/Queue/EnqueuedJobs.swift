/// Jobs as the queue has them.
public struct EnqueuedJobs: Sendable {
    public var jobs: [Job]
    /// Whether an earlier call with the same idempotency key made them.
    public var areRepeated: Bool

    public init(jobs: [Job], areRepeated: Bool) {
        self.jobs = jobs
        self.areRepeated = areRepeated
    }
}
