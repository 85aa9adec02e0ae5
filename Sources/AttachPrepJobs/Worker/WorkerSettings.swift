import RichPush

/// What a worker is told.
public struct WorkerSettings: Sendable {
    /// Who holds the leases: for people who look into the database.
    public var name: String
    /// Jobs in hand at a time.
    public var concurrency = Limits.requestsInFlight
    /// Of those, jobs that fetch from one host.
    public var hostLimit = Limits.jobsPerHostMax
    public var lease = Duration.seconds(Limits.leaseSeconds)
    public var heartbeat = Duration.seconds(Limits.heartbeatSeconds)
    /// How long after a failure a job is tried again, and how often.
    public var retries = RetryPolicy()
    /// Where media are served; nil leaves the addresses in webhooks empty.
    public var baseURL: String?
    /// Changes by other processes are noticed after that time at the latest.
    public var poll = Duration.seconds(Limits.jobPollSeconds)

    public init(name: String = "worker") {
        self.name = name
    }
}
