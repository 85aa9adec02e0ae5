import AttachPrep
import AttachPrepJobs
import MediaTypes

/// The settings of `attachprep serve` and `attachprep worker`: each is a flag, an environment variable and a key of the
/// configuration file.
///
/// `--max-queue` is `ATTACHPREP_MAX_QUEUE` and `max-queue`; the flag has precedence over the variable, and the variable
/// over the file. Secrets have no flag, since command lines are visible to all users of a machine.
public enum Setting: String, CaseIterable, Sendable {
    case config
    case host
    case port
    case baseURL = "base-url"
    case publish
    case publishBaseURL = "publish-base-url"
    case s3Endpoint = "s3-endpoint"
    case s3Region = "s3-region"
    case s3PathStyle = "s3-path-style"
    case s3CacheControl = "s3-cache-control"
    case s3Layout = "s3-layout"
    case queue
    case queueSchema = "queue-schema"
    case queueKeyFile = "queue-key-file"
    case acceptOnly = "accept-only"
    case environmentName = "environment-name"
    case environmentColor = "environment-color"
    case data
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
    case metricsNetwork = "metrics-network"
    case requestsPerSecond = "requests-per-second"
    case logFormat = "log-format"
    case logLevel = "log-level"
    case concurrency
    case perHost = "per-host"
    case mediaSlots = "media-slots"
    case targetProfile = "target-profile"
    case retry
    case requireSandbox = "require-sandbox"
    case httpsOnly = "https-only"
    case allowPrivateNetwork = "allow-private-network"
    case caFile = "ca-file"
    case proxy
    case resolve
    case resolverProbe = "resolver-probe"

    /// The command line flag, such as `--max-queue`.
    public var flag: String { "--\(rawValue)" }

    /// The environment variable, such as `ATTACHPREP_MAX_QUEUE`.
    public var variable: String {
        "ATTACHPREP_" + rawValue.uppercased().split(separator: "-").joined(separator: "_")
    }

    /// The key in the configuration file.
    public var key: String { rawValue }

    /// The setting of a key of the configuration file.
    init?(key: String) {
        guard let setting = Setting(rawValue: key), setting.isFileKey else { return nil }
        self = setting
    }

    /// Whether the configuration file can have it.
    public var isFileKey: Bool { self != .config }

    /// Whether it has several values: a list in the configuration file, separated by commas elsewhere.
    public var isList: Bool {
        [
            .tokens, .webhookSecrets, .allowCallbackNetwork, .metricsNetwork, .resolve, .resolverProbe, .targetProfile,
        ].contains(self)
    }

    /// Whether SIGHUP applies a changed value; others need a restart.
    public var isReloaded: Bool {
        switch self {
        case .tokens, .tokenFile, .webhookSecrets, .webhookSecretFile, .requestsPerSecond, .maxQueue, .mediaQuota,
            .retention, .deadRetention, .unknownFileRetention, .perHost, .logLevel:
            true
        default: false
        }
    }

    /// Whether it has no flag, only a variable and a key.
    public var isSecret: Bool { [.tokens, .webhookSecrets].contains(self) }
}

extension Setting {
    /// The help text: one sentence, without the default.
    public var help: String {
        switch self {
        case .config: "YAML file with settings; variables and options have precedence, SIGHUP reads it again."
        case .host: "Address to listen on; must be loopback if no tokens are set."
        case .port: "Port to listen on; 0 picks a free port."
        case .baseURL: "Public URL of the service; each file's URL begins with it."
        case .publish: "Where to store result files: file: (a folder) or s3://bucket/prefix."
        case .publishBaseURL: "Public URL of the bucket, such as a CDN."
        case .s3Endpoint: "S3 endpoint; else AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or Amazon S3."
        case .s3Region: "S3 region; else AWS_REGION, AWS_DEFAULT_REGION or us-east-1."
        case .s3PathStyle: "Use path-style S3 URLs, with the bucket in the path instead of the host name."
        case .s3CacheControl: "Cache-Control header of files in the bucket."
        case .s3Layout: "Keys of files in the bucket: by content, or in a folder for each result id."
        case .queue: "Job queue: file: (SQLite in the data folder) or postgres://user@host/database (PostgreSQL)."
        case .queueSchema: "Schema of the tables in the PostgreSQL database."
        case .queueKeyFile: "File of keys that seal secrets in the PostgreSQL database: KEYID:BASE64, the first seals."
        case .acceptOnly: "Accept jobs without processing them; attachprep worker processes them."
        case .environmentName: "Name of the environment in the dashboard's header and title, such as staging."
        case .environmentColor: "Color of the environment's name in the dashboard."
        case .data: "Folder for the queue, results and quarantine."
        case .tokens: "Bearer tokens, separated by commas."
        case .tokenFile: "File of bearer tokens, one a line, with name= and roles=; reloaded when it changes."
        case .webhookSecrets: "Webhook signing secrets (whsec_…), separated by commas; all of them sign."
        case .webhookSecretFile: "File of webhook signing secrets (whsec_…), one a line; reloaded when it changes."
        case .allowCallbackNetwork: "Allow webhooks to this private network (CIDR); repeatable."
        case .fsync: "Durability: normal survives a killed process, always survives a power failure too."
        case .drain: "How long running jobs may continue after SIGTERM."
        case .retention: "How long to keep finished jobs and their files."
        case .deadRetention: "How long to keep dead jobs."
        case .unknownFileRetention: "How long to keep files in the data folder that are missing in its database."
        case .mediaQuota: "Disk quota for stored files; the oldest finished ones are removed first."
        case .maxQueue: "Maximum number of queued jobs; more are rejected."
        case .connections: "Maximum number of concurrent connections."
        case .connectionsPerAddress: "Maximum number of concurrent connections from one public address; 0 for no limit."
        case .metricsNetwork: "Serve /metrics without a token to clients of this network (CIDR); repeatable."
        case .requestsPerSecond: "Maximum number of requests per second for each token; 0 for no limit."
        case .logFormat: "Log format: text or json."
        case .logLevel: "Log level: debug, info, notice, warning or error."
        case .concurrency: "Number of jobs to process at a time."
        case .perHost: "Number of jobs of a token to process at a time that download from the same host."
        case .mediaSlots: "Number of media files to decode or encode at a time."
        case .targetProfile: "Picture of another service, a name for \"targets\" of requests; repeatable."
        case .retry: "How jobs that name no policy are retried: fast, patient, or the JSON of a job's retry."
        case .requireSandbox: "Fail if the media process cannot be sandboxed."
        case .httpsOnly: "Reject http sources, including redirects to http."
        case .allowPrivateNetwork: "Allow sources on loopback, private and reserved addresses."
        case .caFile: "Trust the CA certificates in this PEM file."
        case .proxy: "Download through this proxy, which then has to block private addresses."
        case .resolve: "Resolve a host name to an address, as curl does; repeatable."
        case .resolverProbe: "Host name that always resolves, to tell name servers that are away; repeatable."
        }
    }

    /// The placeholder of the value in the help; nil for a switch.
    public var valueName: String? {
        switch self {
        case .host: "address"
        case .port, .maxQueue, .connections, .connectionsPerAddress, .requestsPerSecond, .concurrency, .perHost,
            .mediaSlots:
            "n"
        case .baseURL, .publishBaseURL, .s3Endpoint, .proxy: "url"
        case .publish: "target"
        case .retry: "policy"
        case .resolverProbe: "name"
        case .queue: "queue"
        case .queueSchema, .environmentName: "name"
        case .environmentColor: ServiceEnvironment.Color.allCases.map(\.rawValue).joined(separator: "|")
        case .s3Region: "region"
        case .s3CacheControl: "text"
        case .s3Layout: "content|id"
        case .data: "dir"
        case .tokens, .webhookSecrets: "list"
        case .config, .tokenFile, .webhookSecretFile, .caFile, .queueKeyFile:
            "file"
        case .allowCallbackNetwork, .metricsNetwork: "cidr"
        case .fsync: "normal|always"
        case .drain, .retention, .deadRetention, .unknownFileRetention: "time"
        case .mediaQuota: "bytes"
        case .logFormat: "text|json"
        case .logLevel: "level"
        case .resolve: "host:port:address"
        case .targetProfile: "name:WxH:bytes"
        case .requireSandbox, .httpsOnly, .allowPrivateNetwork, .s3PathStyle, .acceptOnly:
            nil
        }
    }

    /// The default, as shown in the help; nil without one.
    public var defaultText: String? {
        switch self {
        case .host: ServiceSettings().host
        case .baseURL: "the listening address"
        case .publish: "file:"
        case .publishBaseURL: "the URLs of the S3 objects"
        case .s3CacheControl: ResultLayout.content.cacheControl
        case .s3Layout: ResultLayout.content.rawValue
        case .port: "\(ServiceSettings().port)"
        case .queue: "file:"
        case .queueSchema: QueueDatabase.defaultSchema
        case .data: "$XDG_STATE_HOME/attachprep or ~/.local/state/attachprep"
        case .environmentColor: ServiceEnvironment.Color.gray.rawValue
        case .fsync: "normal"
        case .drain: "\(Int(Limits.drainSeconds))s"
        case .retention: "\(Int(Limits.retentionSeconds / 86_400))d"
        case .deadRetention: "\(Int(Limits.deadRetentionSeconds / 86_400))d"
        case .unknownFileRetention: "1d"
        case .mediaQuota: "\(Limits.mediaQuotaBytes / 1_000_000_000)GB"
        case .maxQueue: "\(Limits.queuedJobsMax)"
        case .connections: "\(Limits.connectionsMax)"
        case .connectionsPerAddress: "a quarter of --connections"
        case .requestsPerSecond: "\(Int(Limits.requestsPerSecondMax))"
        case .logFormat: "text"
        case .logLevel: "info"
        case .concurrency: "\(Limits.requestsInFlight)"
        case .perHost: "\(Limits.jobsPerHostMax)"
        case .mediaSlots: "number of cores"
        case .retry: RetryOptions.Preset.fast.rawValue
        case .resolverProbe: "the hosts of --s3-endpoint and --base-url"
        default: nil
        }
    }
}
