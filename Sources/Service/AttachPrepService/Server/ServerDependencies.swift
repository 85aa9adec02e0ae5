import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Glibc
import Logging
import MediaTypes
import Metrics
import OTLP
import PostgresDatabase
import SQLStore
import SQLiteDatabase
import ServiceLifecycle
import Tracing

/// The HTTP front end of a server: `AttachmentService` or `ProbeService`.
protocol HTTPFrontend: Service {
    var boundPort: BoundPort { get }

    /// Changes the number of requests per second for each token.
    func change(requestsPerSecond: Double)
}

extension HTTPFrontend {
    /// Nothing: a front end without tokens has no such limit.
    func change(requestsPerSecond: Double) {}
}

/// Creates and connects the parts of a server.
struct ServerDependencies: Sendable {
    let front: any HTTPFrontend
    /// Finished when running jobs and webhooks have ended after a signal; then the front end stops.
    let drained: AsyncStream<Never>.Continuation
    /// Nil with `--accept-only`.
    let worker: JobWorker?
    let sender: WebhookSender
    let housekeeping: Housekeeping
    /// Nil with `--accept-only`.
    let reporter: WorkerReporter?
    /// Nil if this service serves its files itself.
    let target: PublishTargetMonitor?
    private let tokens: AccessTokens
    private let secrets: WebhookSecrets
    private let registry: PrometheusRegistry
    private let store: any JobStore & StoreMaintenance
    private let preparer: AttachmentPreparer
    private let client: HTTPClient
    /// Nil without traces.
    private let tracing: ProcessTracing?
    private let temporaryFolder: TemporaryDataFolder?

    init(_ given: ServeConfiguration, logger: Logger) async throws {
        let (configuration, temporary) = try given.withTemporaryFolder()
        do {
            try await self.init(configuration, temporary, logger)
        } catch {
            temporary?.remove()
            throw error
        }
    }

    private init(
        _ configuration: ServeConfiguration, _ temporary: TemporaryDataFolder?, _ logger: Logger
    ) async throws {
        let (feed, registry) = (JobFeed(), PrometheusRegistry(descriptions: MetricDescription.service))
        temporaryFolder = temporary
        tokens = try configuration.accessTokens(logger)
        self.registry = registry
        secrets = try configuration.signingSecrets(logger)
        try configuration.checkListening(tokens)
        let opened = try await configuration.openStore(feed, logger)
        store = opened.store
        let receiptService = ReceiptService(
            store: opened.store, key: opened.receiptKey, baseURL: configuration.service.baseURL,
            metrics: ReceiptMetrics(factory: registry), logger: logger)
        try WorkFolder.clear(configuration.preparer.output)
        tracing = try configuration.tracing.map { settings in
            try ProcessTracing(settings, metrics: SpanMetrics(factory: registry), logger: logger)
        }
        var preparing = configuration.preparer
        preparing.tracer = tracing?.tracer
        preparer = try AttachmentPreparer(preparing, logger: logger)
        let metrics = JobMetrics(factory: registry)
        worker =
            configuration.works
            ? JobWorker(
                store: opened.store, preparer: preparer, feed: feed, settings: configuration.workerSettings,
                metrics: metrics, tracer: tracing?.tracer, logger: logger) : nil
        reporter = worker.map { [logger] worker in
            WorkerReporter(
                opened.workers, worker: worker, settings: configuration.workerSettings,
                mediaSlots: configuration.preparer.mediaSlots, logger: logger)
        }
        client = try configuration.webhookClient(logger)
        sender = WebhookSender(
            outbox: opened.store, secrets: secrets, client: client, feed: feed,
            metrics: WebhookMetrics(factory: registry), tracer: tracing?.tracer, logger: logger)
        housekeeping = Housekeeping(store: opened.store, logger: logger)
        target =
            preparer.keepsFolders
            ? nil
            : PublishTargetMonitor(
                every: Limits.targetCheckSeconds, logger: logger, status: { [preparer] in preparer.publishStatus },
                probe: { [preparer] in try await preparer.probeTarget() })
        if configuration.queue == nil {
            registry.set("attachprep_media_quota_bytes", to: Double(configuration.limits.mediaQuotaBytes))
        }
        let page = MetricsPage(
            registry: registry, metrics: metrics, process: ProcessMetrics(registry, commit: configuration.commit),
            store: opened.store, database: opened.database, preparer: preparer, worker: worker, logger: logger)
        let health = HealthRoutes(
            metricsPage: { await page.text($0) },
            readiness: { [worker, housekeeping] in
                let reasons = [worker?.health.reason ?? opened.store.unavailableReason, housekeeping.unavailableReason]
                return ReadinessReport(reasons: reasons.compactMap { $0 })
            })
        var serviceStatus = ServiceStatus(
            configuration, worker: worker, store: opened.store, preparer: preparer, target: target,
            housekeeping: housekeeping)
        serviceStatus.workers = { try await opened.workers.workers() }
        var service = configuration.service
        service.publishedURL = preparer.publishedURL
        let (drain, drained) = AsyncStream.makeStream(of: Never.self)
        self.drained = drained
        front = try Self.front(
            configuration, service: service, health: health, serviceStatus: serviceStatus, store: opened.store,
            feed: feed, receiptService: receiptService,
            tokens: tokens, metrics: HTTPMetrics(factory: registry), tracer: tracing?.tracer, drain: drain,
            logger: logger)
    }

    private static func front(
        _ configuration: ServeConfiguration, service: ServiceSettings, health: HealthRoutes,
        serviceStatus: ServiceStatus, store: any JobStore, feed: JobFeed, receiptService: ReceiptService,
        tokens: AccessTokens, metrics: HTTPMetrics, tracer: (any Tracer)?, drain: AsyncStream<Never>, logger: Logger
    ) throws -> any HTTPFrontend {
        let drained = { @Sendable in for await _ in drain {} }
        guard configuration.role == .serve else {
            return ProbeService(
                health: health, settings: configuration.service, tokens: tokens, metrics: metrics, logger: logger,
                drained: drained)
        }
        let sends = !configuration.webhookSecrets.isEmpty || configuration.webhookSecretFile != nil
        let validator = SubmissionValidator(
            uploads: store, sendsWebhooks: sends, httpsOnly: configuration.preparer.download.httpsOnly,
            targetProfiles: configuration.preparer.targetProfiles, tracer: tracer)
        return try AttachmentService(
            store: store, validator: validator, feed: feed, receiptService: receiptService, tokens: tokens,
            settings: service, health: health, serviceStatus: serviceStatus, metrics: metrics, tracer: tracer,
            logger: logger, drained: drained)
    }

    /// Whether requests need a token, and whether webhooks can be signed: parts that are made at the start.
    var credentials: (areTokensRequired: Bool, areWebhooksSigned: Bool) {
        (tokens.isRequired, !secrets.current.isEmpty)
    }

    /// Applies what can change while the server runs.
    ///
    /// - Parameters:
    ///   - tokens: nil to keep the current ones.
    ///   - secrets: nil to keep the current ones.
    func apply(_ configuration: ServeConfiguration, tokens: AccessTokens?, secrets: WebhookSecrets?) {
        if let tokens { self.tokens.replace(with: tokens) }
        if let secrets { self.secrets.replace(with: secrets) }
        front.change(requestsPerSecond: configuration.service.requestsPerSecondMax)
        worker?.change(hostLimit: configuration.jobsPerHostMax)
        store.apply(configuration.limits)
        if configuration.queue == nil {
            registry.set("attachprep_media_quota_bytes", to: Double(configuration.limits.mediaQuotaBytes))
        }
    }

    /// Ends media processes and connections, closes the store and removes the temporary data folder.
    func close() async {
        await tracing?.shutdown()
        await client.shutdown()
        await preparer.shutdown()
        await store.close()
        temporaryFolder?.remove()
    }
}

extension ServeConfiguration {
    /// The configuration with a temporary data folder if none was given; `TemporaryDataFolder.remove` deletes it.
    fileprivate func withTemporaryFolder() throws -> (ServeConfiguration, TemporaryDataFolder?) {
        guard dataFolder.isEmpty else { return (self, nil) }
        var configuration = self
        let folder = try TemporaryDataFolder()
        configuration.dataFolder = folder.path
        configuration.preparer.output = "\(folder.path)/work"
        // Keeps the quarantine in memory.
        configuration.preparer.dataFolder = nil
        return (configuration, folder)
    }

    var workerSettings: WorkerSettings {
        var settings = WorkerSettings(name: queue == nil ? "serve" : "\(ProcessInfo.processInfo.hostName) \(getpid())")
        settings.concurrency = preparer.requestsInFlight
        settings.hostLimit = jobsPerHostMax
        settings.baseURL = service.baseURL
        settings.retries = retries
        settings.retentionSeconds = limits.retentionSeconds
        settings.heldBytesMax = limits.mediaQuotaBytes
        return settings
    }

    /// The client of webhooks.
    func webhookClient(_ logger: Logger) throws -> HTTPClient {
        try HTTPClient(
            policy: callbackPolicy, networks: callbackNetworks,
            onAbandonedLoop: { count in
                logger.error(
                    "webhook thread abandoned: libcurl did not return",
                    metadata: ["abandoned": .stringConvertible(count)])
            })
    }

    /// The download policy, but with http allowed: receivers in private networks often have no certificate.
    /// `--allow-private-network` permits private addresses for both, `--allow-callback-network` for webhooks only.
    var callbackPolicy: DownloadPolicy {
        var policy = preparer.download
        policy.httpsOnly = false
        return policy
    }
}

/// The folder in which results are created before they are stored.
enum WorkFolder {
    /// Creates the folder with access for this user only, and removes the files of earlier processes except results
    /// that wait to be published: only the holder of the data folder's lock uses it.
    ///
    /// - Throws: `output.not_writable`.
    static func clear(_ path: String) throws {
        do {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            let held = Set(names.filter(HeldResultStorage.isResult))
            for name in names where !held.contains(name) {
                try FileManager.default.removeItem(atPath: "\(path)/\(name)")
            }
            try PrivateFolder.make(path, holding: held)
        } catch {
            throw AttachPrepError(
                .outputNotWritable,
                "Cannot create or empty the folder \(path); check its permissions.",
                detail: "\(error)")
        }
    }
}
