import AttachPrep
package import MediaTypes

/// How a worker processes jobs.
public struct WorkerSettings: Sendable {
    /// Name of the worker in the database, for operators.
    public var name: String
    /// Maximum number of jobs processed at the same time.
    public var concurrency = Limits.requestsInFlight
    /// Maximum number of those that fetch from the same host.
    public var hostLimit = Limits.jobsPerHostMax
    public var lease = Duration.seconds(Limits.leaseSeconds)
    public var heartbeat = Duration.seconds(Limits.heartbeatSeconds)
    /// Retry policy of failed attempts of jobs that name none.
    public var retries = RetryPolicy()
    /// How long a job may wait for a dependency that is away.
    public var retentionSeconds = Limits.retentionSeconds
    /// Maximum size of results that wait on this machine to be published, in bytes.
    public var heldBytesMax = Limits.mediaQuotaBytes
    /// Public base URL of media files; without it, manifests in webhooks have no file URLs.
    public var baseURL: String?
    /// Polling interval: the maximum delay until changes by other processes are noticed.
    public var poll = Duration.seconds(Limits.jobPollSeconds)

    public init(name: String = "worker") {
        self.name = name
    }
}

extension Limits {
    /// The duration of a lease, after which the loss of a worker is detected. Heartbeats run on a thread that decoding
    /// does not block.
    package static let leaseSeconds = 15.0
    /// Interval between heartbeats: two may be late before a lease expires.
    static let heartbeatSeconds = 5.0
    /// Running jobs that fetch from one host, so that a slow host does not occupy all slots.
    package static let jobsPerHostMax = 16
    /// Interval at which a worker checks for jobs that other processes enqueued or released.
    static let jobPollSeconds = 1.0
    /// Time from SIGTERM to the end; jobs that still run return to the queue. Kubernetes kills after 30 s.
    package static let drainSeconds = 20.0
}
