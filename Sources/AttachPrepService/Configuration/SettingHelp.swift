import AttachPrep
import AttachPrepJobs
import RichPush

extension Setting {
    /// One sentence, without the default.
    public var help: String {
        switch self {
        case .host: "The address to listen on; without tokens only a loopback address."
        case .port: "The port to listen on; 0 takes a free one."
        case .baseURL: "Where the service is reached from outside; fills the url of every file."
        case .publish: "Where files go: file: (kept and served here) or s3://bucket/prefix."
        case .publishBaseURL: "Where such a bucket is fetched from, as through a CDN."
        case .s3Endpoint: "The S3 server; else AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or Amazon's."
        case .s3Region: "Its region; else AWS_REGION, AWS_DEFAULT_REGION or us-east-1."
        case .s3PathStyle: "Name the bucket in the path, not in the host's name."
        case .s3CacheControl: "The Cache-Control of files in a bucket."
        case .queue: "Where jobs are: file: (the data folder) or nats://host,host,host (NATS JetStream)."
        case .queuePrefix: "What names on the NATS servers begin with."
        case .queueReplicas: "Copies that the servers keep of everything."
        case .queueAllowDivergingServer:
            "Take nats-server before \(QueueServers.leastVersionText), whose copies diverge: jobs may be stuck or lost."
        case .queueUser: "The user that the NATS servers know us as."
        case .queuePassword: "His password."
        case .queuePasswordFile: "A file with his password, else ATTACHPREP_QUEUE_PASSWORD."
        case .queueToken: "The token that the NATS servers know us by."
        case .queueTokenFile: "A file with that token, else ATTACHPREP_QUEUE_TOKEN."
        case .queueNKeyFile: "A file with a NATS user's seed (SU...)."
        case .queueCredentialsFile: "A NATS credentials file (.creds)."
        case .queueCAFile: "Trust NATS servers' certificates of this PEM file."
        case .queueCertificateFile: "Our certificate for the NATS servers (PEM)."
        case .queueKeyFile: "Its key (PEM)."
        case .acceptOnly: "Take jobs in, and leave the work to attachprep worker."
        case .state: "The folder of the queue, the results and the quarantine."
        case .tokens: "Bearer tokens, separated by commas."
        case .tokenFile: "A file of bearer tokens, one a line; read again when it changes."
        case .webhookSecrets: "Secrets that sign webhooks (whsec_…), separated by commas; all of them sign."
        case .webhookSecretFile: "A file of such secrets, one a line; read again when it changes."
        case .allowCallbackNetwork: "Let webhooks go to this private network (CIDR); may be repeated."
        case .fsync: "normal survives kill -9, always survives a power failure too."
        case .drain: "How long running jobs may go on after SIGTERM."
        case .retention: "How long finished jobs and their files are kept."
        case .deadRetention: "How long dead letters are kept."
        case .unknownFileRetention: "How long files in the data folder that its database does not know are kept."
        case .mediaQuota: "Bytes of files that are kept; the oldest finished ones make room."
        case .maxQueue: "Jobs that may wait; more are refused."
        case .connections: "Connections at a time."
        case .connectionsPerAddress: "Of those, from one address of the internet; 0 does not limit."
        case .loopbackMetrics: "Show /metrics to this machine without a token; not behind a proxy."
        case .requestsPerSecond: "Requests a second for each token; 0 does not limit."
        case .logFormat: "Log lines as text or json."
        case .logLevel: "debug, info, notice, warning or error."
        case .concurrency: "Jobs worked on at a time."
        case .perHost: "Of those, jobs that fetch from one host."
        case .mediaSlots: "Media worked on at a time."
        case .requireSandbox: "Refuse to work where the media process cannot be locked down."
        case .httpsOnly: "Refuse http sources, on redirects too."
        case .allowPrivateNetwork: "Let sources lie on loopback, private and reserved addresses."
        case .caFile: "Trust the certificates of this PEM file."
        case .proxy: "Fetch through this proxy, which then checks the addresses."
        case .resolve: "Resolve a name to an address, as curl does; may be repeated."
        }
    }

    /// What stands for its value; nil for one that is on or off.
    public var valueName: String? {
        switch self {
        case .host: "address"
        case .port, .maxQueue, .connections, .connectionsPerAddress, .requestsPerSecond, .concurrency, .perHost,
            .mediaSlots, .queueReplicas:
            "n"
        case .baseURL, .publishBaseURL, .s3Endpoint, .proxy: "url"
        case .publish: "target"
        case .queue: "place"
        case .queuePrefix, .queueUser: "name"
        case .s3Region: "region"
        case .s3CacheControl: "text"
        case .state: "dir"
        case .tokens, .webhookSecrets: "list"
        case .queuePassword, .queueToken: "secret"
        case .tokenFile, .webhookSecretFile, .caFile, .queuePasswordFile, .queueTokenFile, .queueNKeyFile,
            .queueCredentialsFile, .queueCAFile, .queueCertificateFile, .queueKeyFile:
            "file"
        case .allowCallbackNetwork: "cidr"
        case .fsync: "normal|always"
        case .drain, .retention, .deadRetention, .unknownFileRetention: "time"
        case .mediaQuota: "bytes"
        case .logFormat: "text|json"
        case .logLevel: "level"
        case .resolve: "host:port:address"
        case .requireSandbox, .httpsOnly, .allowPrivateNetwork, .s3PathStyle, .acceptOnly, .loopbackMetrics,
            .queueAllowDivergingServer:
            nil
        }
    }

    /// What holds when nobody says anything, as a person writes it; nil for nothing.
    public var defaultText: String? {
        switch self {
        case .host: ServiceSettings().host
        case .baseURL: "the address it listens on"
        case .publish: "file:"
        case .publishBaseURL: "the objects' own addresses"
        case .s3CacheControl: S3Settings.standardCacheControl
        case .port: "\(ServiceSettings().port)"
        case .queue: "file:"
        case .queuePrefix: "attachprep"
        case .queueReplicas: "3 in a cluster"
        case .state: "$XDG_STATE_HOME/attachprep or ~/.local/state/attachprep"
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
        case .mediaSlots: "the cores"
        default: nil
        }
    }
}
