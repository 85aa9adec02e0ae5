import Logging
import MediaEngine
import MediaTypes
import Tracing

/// The dependencies of the pipeline, shared by all requests.
struct PipelineDependencies: Sendable {
    private(set) var engine: any MediaEngine
    let quarantine: Quarantine
    let downloader: Downloader
    let resolver: ResolverMonitor
    let blocking: BlockingThread
    let target: MonitoredTarget
    /// Whether the caller takes the folder of a result over, see `PreparerConfiguration.publishesFolders`.
    let handsFoldersOver: Bool
    /// Records the stages of traced requests; nil records none.
    let tracer: (any Tracer)?

    init(engine: any MediaEngine, configuration: PreparerConfiguration, logger: Logger) throws {
        self.engine = engine
        tracer = configuration.tracer
        quarantine = Quarantine(dataFolder: configuration.dataFolder, logger: logger)
        resolver = ResolverMonitor(SystemNameResolver(), probing: configuration.resolverProbes)
        downloader = try Downloader(
            policy: configuration.download, resolver: resolver, inFlightMax: configuration.requestsInFlight
        ) {
            logger.error(
                "download thread abandoned: libcurl did not return", metadata: ["abandoned": .stringConvertible($0)])
        }
        blocking = try BlockingThread()
        target = MonitoredTarget(
            try configuration.publish.target(
                output: configuration.output, baseURL: configuration.baseURL,
                publishesFolders: configuration.publishesFolders, policy: configuration.download,
                tracer: configuration.tracer, blocking: blocking, logger: logger))
        handsFoldersOver = target.keepsFolders && !configuration.publishesFolders
    }

    /// The same for a request whose calls wait for media slots as work of this share.
    func sharing(_ share: MediaShare) -> PipelineDependencies {
        var dependencies = self
        dependencies.engine = engine.sharing(share)
        return dependencies
    }

    /// An engine for work on the given content: rejects it when it is in quarantine, and records a strike when a media
    /// process ends on it.
    func engine(
        for digest: String, _ subject: QuarantineEntry.Subject, source: String,
        prefixes: @escaping @Sendable () -> [String] = { [] }
    ) -> any MediaEngine {
        QuarantiningEngine(
            engine: engine, quarantine: quarantine, digest: digest,
            subject: { QuarantineEntry(digest: digest, subject: subject, prefixes: prefixes()) }, source: source)
    }

    /// The engine for a source that is still downloading, which is identified by the digest of its first bytes.
    func engine(forFirstBytesOf descriptor: CInt, of request: AttachmentRequest) -> any MediaEngine {
        let length = PrefixDigest.length(available: Limits.earlyReceivedBytesMin, isComplete: false)
        guard let digest = PrefixDigest.digest(of: descriptor, length: length) else { return engine }
        return engine(for: digest, .firstBytes, source: RedactedURL.redact(request.source))
    }

    /// The engine for a complete source.
    func engine(for fetched: FetchedSource, of request: AttachmentRequest) -> any MediaEngine {
        engine(for: fetched.sha256, .content, source: RedactedURL.redact(request.source)) {
            PrefixDigest.digests(of: fetched.descriptor)
        }
    }
}
