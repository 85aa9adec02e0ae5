import RichPush

/// What the HTTP service is told; what it is told by is `attachprep serve`.
public struct ServiceSettings: Sendable {
    /// The address to listen on.
    public var host = "127.0.0.1"
    /// 0 takes a free one.
    public var port = 8080
    /// Where a worker answers, beside a service on the same machine.
    static let workerPort = 8081
    /// Where the service is reached from outside: fills `url` in manifests. Without it they are null.
    public var baseURL: String?
    /// Whether files of results are served here; else they have addresses where they were published to.
    public var servesFiles = true
    /// An address of a file where it was published to, else nil: the page shows files from there.
    public var publishedURL: String?
    public var connectionsMax = Limits.connectionsMax
    /// Connections at a time from one address of the internet; 0 does not limit. A quarter of all: no single address
    /// takes every place, and a mobile network that has one address for many phones gets far with it.
    public var connectionsPerAddressMax = Limits.connectionsMax / 4
    /// Addresses of this machine and of private networks are counted as well; tests have no others.
    var countsEveryAddress = false
    /// Whether `/metrics` needs no token on this machine.
    public var showsMetricsToLoopback = false
    /// For each token; 0 does not limit.
    public var requestsPerSecondMax = Limits.requestsPerSecondMax
    /// Of one address; 0 does not limit.
    public var wrongTokensPerSecondMax = Limits.wrongTokensPerSecondMax
    public var idleConnectionSecondsMax = Limits.idleConnectionSecondsMax
    /// The longest that a caller waits for the media of a payload.
    public var payloadSecondsMax = Limits.preferredWaitSecondsMax

    public init() {}
}
