import AttachPrep
import AttachPrepJobs
import Glibc
import Logging
import Metrics
import RichPush
import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What answers to HTTP in front.
protocol FrontService: Service {
    /// The port it listens on, once it does.
    var boundPort: BoundPort { get }
}

/// What a server is made of, each part given what it needs of the others.
struct ServerRooms: Sendable {
    let front: any FrontService
    /// Finished when running jobs and webhooks have ended after a signal: then the front may go.
    let drained: AsyncStream<Never>.Continuation
    /// Nil where jobs are taken in alone.
    let worker: JobWorker?
    let sender: WebhookSender
    let housekeeping: Housekeeping
    /// Nil where files are served here.
    let target: TargetWatch?
    private let tokens: AccessTokens
    private let store: any JobStore & StoreKeeping
    private let preparer: AttachmentPreparer
    private let calls: CallSender
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
        tokens = try AccessTokens(configuration.tokens, file: configuration.tokenFile, logger: logger)
        let secrets = try WebhookSecrets(
            literals: configuration.webhookSecrets, file: configuration.webhookSecretFile, logger: logger)
        let opened = try await configuration.openStore(feed, logger)
        store = opened.store
        let office = ReceiptOffice(
            store: opened.receipts, key: opened.receiptKey, baseURL: configuration.service.baseURL,
            metrics: ReceiptMetrics(factory: registry), logger: logger)
        try WorkFolder.clear(configuration.preparer.output)
        preparer = try AttachmentPreparer(configuration.preparer, logger: logger)
        let metrics = JobMetrics(factory: registry)
        worker =
            configuration.works
            ? JobWorker(
                store: opened.store, preparer: preparer, feed: feed, settings: configuration.workerSettings,
                metrics: metrics, logger: logger) : nil
        calls = try CallSender(
            policy: configuration.callbackPolicy,
            networks: try configuration.callbackNetworks.map { text in try AddressBlock(text) },
            onAbandonedLoop: { [logger] in
                logger.error("webhook thread abandoned: libcurl did not return", metadata: ["abandoned": "\($0)"])
            })
        sender = WebhookSender(
            outbox: opened.store, secrets: secrets, calls: calls, feed: feed,
            metrics: WebhookMetrics(factory: registry), logger: logger)
        housekeeping = Housekeeping(store: opened.store, logger: logger)
        target =
            preparer.keepsFolders
            ? nil
            : TargetWatch(
                every: Limits.targetLookSeconds, logger: logger, standing: { [preparer] in preparer.publishStanding },
                look: { [preparer] in try await preparer.probeTarget() })
        let page = MetricsPage(
            registry: registry, metrics: metrics, store: opened.store, preparer: preparer, logger: logger)
        let health = HealthRoutes(
            metricsPage: { await page.text() },
            readiness: { [worker, housekeeping] in
                let reasons = [worker?.health.reason ?? opened.store.fault, housekeeping.fault]
                return ReadinessReport(reasons: reasons.compactMap { $0 })
            })
        let surroundings = Surroundings(
            configuration, worker: worker, store: opened.store, preparer: preparer, target: target,
            housekeeping: housekeeping)
        var service = configuration.service
        service.publishedURL = preparer.publishedURL
        let (drain, drained) = AsyncStream.makeStream(of: Never.self)
        self.drained = drained
        front = try Self.front(
            configuration, service, health, surroundings, opened.store, feed: feed, office: office,
            tokens: tokens, drain: drain, logger: logger)
    }

    private static func front(
        _ configuration: ServeConfiguration, _ service: ServiceSettings, _ health: HealthRoutes,
        _ surroundings: Surroundings, _ store: any JobStore, feed: JobFeed, office: ReceiptOffice, tokens: AccessTokens,
        drain: AsyncStream<Never>, logger: Logger
    ) throws -> any FrontService {
        let drained = { @Sendable in for await _ in drain {} }
        guard configuration.role == .serve else {
            return ProbeService(
                health: health, settings: configuration.service, logger: logger, drained: drained)
        }
        let sends = !configuration.webhookSecrets.isEmpty || configuration.webhookSecretFile != nil
        let intake = JobIntake(
            uploads: store, sendsWebhooks: sends, httpsOnly: configuration.preparer.download.httpsOnly)
        return try AttachmentService(
            store: store, intake: intake, feed: feed, office: office, tokens: tokens, settings: service,
            health: health, surroundings: surroundings, logger: logger, drained: drained)
    }

    /// Reads tokens again; secrets are, when they are needed and their file has changed.
    func reload() { tokens.reload() }

    /// Ends children and connections, and gives the data folder back.
    func close() async {
        await calls.shutdown()
        await preparer.shutdown()
        await store.close()
        temporaryFolder?.remove()
    }
}

extension ServeConfiguration {
    /// With a folder of the process's own where none was named, which is removed with it.
    fileprivate func withTemporaryFolder() throws -> (ServeConfiguration, TemporaryDataFolder?) {
        guard stateFolder.isEmpty else { return (self, nil) }
        var configuration = self
        let folder = try TemporaryDataFolder()
        configuration.stateFolder = folder.path
        configuration.preparer.output = "\(folder.path)/work"
        // Its quarantine is in memory.
        configuration.preparer.stateFolder = nil
        return (configuration, folder)
    }

    var storeLimits: StoreLimits {
        var limits = StoreLimits()
        limits.queuedJobsMax = queuedJobsMax
        limits.retentionSeconds = retentionSeconds
        limits.deadRetentionSeconds = deadRetentionSeconds
        limits.unknownFileSeconds = unknownFileSeconds
        limits.mediaQuotaBytes = mediaQuotaBytes
        return limits
    }

    var workerSettings: WorkerSettings {
        var settings = WorkerSettings(name: queue == nil ? "serve" : "\(MachineName.current) \(getpid())")
        settings.concurrency = preparer.requestsInFlight
        settings.hostLimit = jobsPerHostMax
        settings.baseURL = service.baseURL
        return settings
    }

    /// As for downloads, but for http: a receiver of one's own network has no certificate. `--allow-private-network`
    /// opens both, `--allow-callback-network` webhooks alone.
    var callbackPolicy: DownloadPolicy {
        var policy = preparer.download
        policy.httpsOnly = false
        return policy
    }
}
