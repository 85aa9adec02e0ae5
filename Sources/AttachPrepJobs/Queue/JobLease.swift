/// A worker's right to a job until a time; another claim of the same job has another token.
public struct JobLease: Sendable, Hashable {
    public let job: JobID
    public let token: Int64

    public init(job: JobID, token: Int64) {
        self.job = job
        self.token = token
    }
}

/// How a lease stands after an attempt to renew it.
public enum LeaseStanding: Sendable, Hashable {
    case held
    /// Held, but the job was called off: finish it as cancelled.
    case cancelled
    /// Somebody else has the job, or it has ended.
    case lost
}
