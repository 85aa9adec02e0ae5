public import AttachPrep
import MediaTypes

/// Settings of the HTTP service; `attachprep serve` fills them from `ServeConfiguration`.
public struct ServiceSettings: Sendable {
    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 picks a free one.
    public var port = 8080
    /// Default port of a worker's probes, so that it can run beside a service on the same machine.
    static let workerPort = 8081
    /// Public base URL of the service: fills `url` in manifests, which is null without it.
    public var baseURL: String?
    /// Shown by the dashboard; nil without a name.
    public var environment: ServiceEnvironment?
    /// Whether this service serves result files; if false, they are fetched from the publish target.
    public var servesFiles = true
    /// A sample URL of a published file, nil without a publish target: the dashboard may load files from its origin.
    public var publishedURL: String?
    public var connectionsMax = Limits.connectionsMax
    /// Concurrent connections from one public address; 0 disables the limit. The default is a quarter of
    /// `connectionsMax`: no address can use all connections, and carrier-grade NAT, with many phones behind one
    /// address, still works.
    public var connectionsPerAddressMax = Limits.connectionsMax / 4
    /// Whether loopback and private addresses count against the limit too; for tests, which have no other addresses.
    var countsEveryAddress = false
    /// Networks whose clients may read `/metrics` without a token, unless a proxy forwarded the request.
    public var metricsNetworks: [AddressBlock] = []
    /// Requests per second for each token; 0 disables the limit.
    public var requestsPerSecondMax = Limits.requestsPerSecondMax
    /// Requests per second with an invalid token from one address; 0 disables the limit.
    public var wrongTokensPerSecondMax = Limits.wrongTokensPerSecondMax
    /// Processor seconds per second that invalid requests without authentication may use, by address; 0 disables the
    /// limit.
    public var anonymousWorkPerSecondMax = Limits.anonymousWorkPerSecondMax
    public var idleConnectionSecondsMax = Limits.idleConnectionSecondsMax
    /// The longest wait for the media of a payload, in seconds.
    public var payloadSecondsMax = Limits.preferredWaitSecondsMax

    public init() {}
}

extension Limits {
    /// Concurrent connections: 1,000 with 64 KB of buffers each are 64 MB.
    static let connectionsMax = 1_000
    /// A connection without traffic for this long is closed.
    static let idleConnectionSecondsMax = 60.0
    /// Requests per second and burst size of each token: what two cores answer without other work.
    static let requestsPerSecondMax = 2_000.0
    /// Requests with a wrong token per second and address before rate limiting: a misconfigured client.
    static let wrongTokensPerSecondMax = 10.0
}

extension Authenticator {
    init(tokens: AccessTokens, settings: ServiceSettings) {
        self.init(
            tokens: tokens, session: SessionCookie(baseURL: settings.baseURL, port: settings.port),
            metricsNetworks: settings.metricsNetworks, requestsPerSecondMax: settings.requestsPerSecondMax,
            wrongTokensPerSecondMax: settings.wrongTokensPerSecondMax)
    }
}
