/// Everything `attachprep serve` and `attachprep worker` can be told: each setting is a flag and a variable of the same
/// name.
///
/// `--max-queue` is `ATTACHPREP_MAX_QUEUE`; the flag wins. Secrets have a variable or a file, since command lines are
/// seen by everybody on a machine.
public enum Setting: String, CaseIterable, Sendable {
    case host
    case port
    case baseURL = "base-url"
    case publish
    case publishBaseURL = "publish-base-url"
    case s3Endpoint = "s3-endpoint"
    case s3Region = "s3-region"
    case s3PathStyle = "s3-path-style"
    case s3CacheControl = "s3-cache-control"
    case queue
    case queuePrefix = "queue-prefix"
    case queueReplicas = "queue-replicas"
    case queueAllowDivergingServer = "queue-allow-diverging-server"
    case queueUser = "queue-user"
    case queuePassword = "queue-password"
    case queuePasswordFile = "queue-password-file"
    case queueToken = "queue-token"
    case queueTokenFile = "queue-token-file"
    case queueNKeyFile = "queue-nkey-file"
    case queueCredentialsFile = "queue-credentials-file"
    case queueCAFile = "queue-ca-file"
    case queueCertificateFile = "queue-certificate-file"
    case queueKeyFile = "queue-key-file"
    case acceptOnly = "accept-only"
    case state
    case tokens
    case tokenFile = "token-file"
    case webhookSecrets = "webhook-secrets"
    case webhookSecretFile = "webhook-secret-file"
    case allowCallbackNetwork = "allow-callback-network"
    case fsync
    case drain
    case retention
    case deadRetention = "dead-retention"
    case unknownFileRetention = "unknown-file-retention"
    case mediaQuota = "media-quota"
    case maxQueue = "max-queue"
    case connections
    case connectionsPerAddress = "connections-per-address"
    case loopbackMetrics = "loopback-metrics"
    case requestsPerSecond = "requests-per-second"
    case logFormat = "log-format"
    case logLevel = "log-level"
    case concurrency
    case perHost = "per-host"
    case mediaSlots = "media-slots"
    case requireSandbox = "require-sandbox"
    case httpsOnly = "https-only"
    case allowPrivateNetwork = "allow-private-network"
    case caFile = "ca-file"
    case proxy
    case resolve

    /// As it is written on a command line.
    public var flag: String { "--\(rawValue)" }

    /// As it is written in an environment.
    public var variable: String {
        "ATTACHPREP_" + rawValue.uppercased().split(separator: "-").joined(separator: "_")
    }

    /// Whether it may only stand in the environment.
    public var isSecret: Bool { [.tokens, .webhookSecrets, .queuePassword, .queueToken].contains(self) }

    /// The parts of its name, as swift-configuration has them.
    var words: [String] { ["attachprep"] + rawValue.split(separator: "-").map(String.init) }
}
