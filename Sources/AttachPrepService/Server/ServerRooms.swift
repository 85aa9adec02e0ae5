import AttachPrep
import AttachPrepJobs
import Logging
import Metrics
import RichPush

/// What a server is made of, each part given what it needs of the others.
struct ServerRooms: Sendable {
    let service: AttachmentService
    let worker: JobWorker
    let sender: WebhookSender
    let housekeeping: Housekeeping
    private let tokens: AccessTokens
    private let store: SQLiteStore
    private let preparer: AttachmentPreparer
    private let calls: CallSender

    init(_ configuration: ServeConfiguration, logger: Logger) async throws {
        let feed = JobFeed()
        let registry = PrometheusRegistry(descriptions: MetricDescription.service)
        tokens = try AccessTokens(configuration.tokens, file: configuration.tokenFile, logger: logger)
        let secrets = try WebhookSecrets(
            literals: configuration.webhookSecrets, file: configuration.webhookSecretFile, logger: logger)
        let store = try await SQLiteStore.open(
            folder: configuration.stateFolder, durability: configuration.durability, role: .service,
            limits: configuration.storeLimits, feed: feed, logger: logger)
        self.store = store
        let office = ReceiptOffice(
            store: store, key: try await ReceiptKey.open(folder: configuration.stateFolder),
            baseURL: configuration.service.baseURL, metrics: ReceiptMetrics(factory: registry), logger: logger)
        try WorkFolder.clear(configuration.preparer.output)
        preparer = try AttachmentPreparer(configuration.preparer, logger: logger)
        let metrics = JobMetrics(factory: registry)
        worker = JobWorker(
            store: store, preparer: preparer, feed: feed, settings: configuration.workerSettings, metrics: metrics,
            logger: logger)
        calls = try CallSender(
            policy: configuration.callbackPolicy,
            networks: try configuration.callbackNetworks.map { text in try AddressBlock(text) })
        sender = WebhookSender(
            outbox: store, secrets: secrets, calls: calls, feed: feed, metrics: WebhookMetrics(factory: registry),
            logger: logger)
        housekeeping = Housekeeping(store: store, logger: logger)
        let sends = !configuration.webhookSecrets.isEmpty || configuration.webhookSecretFile != nil
        let intake = JobIntake(
            uploads: store, sendsWebhooks: sends, httpsOnly: configuration.preparer.download.httpsOnly)
        let page = MetricsPage(registry: registry, metrics: metrics, store: store, preparer: preparer, logger: logger)
        service = try AttachmentService(
            store: store, intake: intake, feed: feed, office: office, tokens: tokens, settings: configuration.service,
            metricsPage: { await page.text() },
            readiness: { [worker, housekeeping] in
                ReadinessReport(reasons: [worker.health.reason, housekeeping.fault].compactMap { $0 })
            },
            logger: logger)
    }

    /// Reads tokens again; secrets are, when they are needed and their file has changed.
    func reload() { tokens.reload() }

    /// Says whether results can be published now: they may be later, so it does not end a service.
    func probeTarget(_ logger: Logger) async {
        guard !preparer.keepsFolders else { return }
        do {
            try await preparer.probeTarget()
            logger.info("the bucket takes files")
        } catch {
            logger.error("the bucket takes no files now; jobs will fail until it does", metadata: ["error": "\(error)"])
        }
    }

    /// Ends children and connections, and gives the data folder back.
    func close() async {
        await calls.shutdown()
        await preparer.shutdown()
        await store.close()
    }
}

extension ServeConfiguration {
    var storeLimits: StoreLimits {
        var limits = StoreLimits()
        limits.queuedJobsMax = queuedJobsMax
        limits.retentionSeconds = retentionSeconds
        limits.deadRetentionSeconds = deadRetentionSeconds
        limits.mediaQuotaBytes = mediaQuotaBytes
        return limits
    }

    var workerSettings: WorkerSettings {
        var settings = WorkerSettings(name: "serve")
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
