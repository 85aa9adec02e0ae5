import AttachPrep
import AttachPrepJobs
import Hummingbird
import HummingbirdCore
import Logging
import MediaTypes
import NIOPosix
public import ServiceLifecycle
import Tracing

/// The HTTP service: jobs, uploads and results for callers with a token, and media files for devices.
public struct AttachmentService: Service, HTTPFrontend {
    /// The port that the service listens on, available once it listens.
    public let boundPort = BoundPort()

    private let feed: JobFeed
    /// The changes of `feed` for HTTP listeners: it ends when the service stops, while the worker still needs `feed`.
    private let eventLog = EventLog()
    private let tokens: AccessTokens
    private let settings: ServiceSettings
    private let logger: Logger
    private let waiters: JobWaiters
    private let health: HealthRoutes
    private let authenticator: Authenticator
    private let receiptRequests: RateLimiter
    private let metrics: HTTPMetrics?
    private let tracer: (any Tracer)?
    private let drained: @Sendable () async -> Void
    let endpoints: [Endpoint]

    /// - Parameters:
    ///   - feed: the feed to which the store publishes its changes.
    ///   - receiptService: verifies and counts receipts of devices.
    /// - Throws: `request.invalid` if the service has no token and would listen on an address that is not loopback.
    init(
        store: any JobStore, validator: SubmissionValidator, feed: JobFeed, receiptService: ReceiptService,
        tokens: AccessTokens,
        settings: ServiceSettings, health: HealthRoutes, serviceStatus: ServiceStatus = ServiceStatus(),
        metrics: HTTPMetrics? = nil, tracer: (any Tracer)? = nil, logger: Logger,
        drained: @escaping @Sendable () async -> Void = {}
    ) throws {
        try LoopbackPolicy.check(host: settings.host, tokens: tokens)
        (self.feed, self.tokens, self.settings, self.logger) = (feed, tokens, settings, logger)
        waiters = JobWaiters(store: store, waitersMax: settings.connectionsMax)
        (self.health, self.metrics, self.drained) = (health, metrics, drained)
        self.tracer = tracer
        authenticator = Authenticator(tokens: tokens, settings: settings)
        let submission = JobSubmissionRoutes(
            store: store, validator: validator, waiters: waiters, baseURL: settings.baseURL)
        let payloads = PayloadRoutes(
            jobs: PayloadJobs(
                store: store, validator: validator, waiters: waiters, baseURL: settings.baseURL,
                secondsMax: settings.payloadSecondsMax),
            receiptService: receiptService, hasPublicURLs: settings.baseURL != nil || !settings.servesFiles)
        receiptRequests = RateLimiter(
            perSecond: settings.requestsPerSecondMax, namesMax: Limits.countedAddressesMax)
        let receipts = ReceiptRoutes(
            receiptService: receiptService, requests: receiptRequests,
            wrongTokens: RateLimiter(
                perSecond: settings.wrongTokensPerSecondMax, namesMax: Limits.countedAddressesMax),
            work: AnonymousWork(perSecond: settings.anonymousWorkPerSecondMax))
        let counts = CachedValue(for: .seconds(Limits.eventCountsSeconds / 2)) { try await store.counts() }
        let events = EventRoutes(
            log: eventLog, counts: counts, heartbeatSeconds: Limits.eventHeartbeatSeconds)
        let overview = OverviewRoutes(store: store, serviceStatus: serviceStatus) { await health.report() }
        endpoints =
            submission.endpoints + payloads.endpoints
            + JobRoutes(store: store, waiters: waiters, baseURL: settings.baseURL).endpoints
            + PauseRoutes(store: store).endpoints + ActionRoutes(store: store).endpoints
            + WebhookRoutes(store: store).endpoints + UploadRoutes(store: store).endpoints + events.endpoints
            + overview.endpoints
            + receipts.endpoints + CampaignRoutes(receiptService: receiptService, catalog: store).endpoints
            + MediaRoutes(store: store).endpoints + health.endpoints
            + SessionRoutes(authenticator: authenticator, environment: settings.environment).endpoints
            + PageRoutes(policy: PagePolicy(settings)).endpoints
    }

    /// Serves until graceful shutdown. Then it answers requests that wait for a job at once, ends event streams,
    /// completes responses in progress, and answers probes on new connections until running jobs have ended.
    public func run() async throws {
        let (changes, gaps) = (feed.changes(backlog: Self.backlog), feed.gaps())
        let application = HTTPApplication(
            endpoints: endpoints, authenticator: authenticator, settings: settings, port: boundPort, logger: logger,
            metrics: metrics, tracer: tracer)
        defer { boundPort.end() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [waiters, eventLog] in
                for await change in changes {
                    eventLog.record(change)
                    waiters.jobChanged(change)
                }
            }
            group.addTask { [eventLog] in for await _ in gaps { eventLog.restart() } }
            group.addTask { [tokens] in await Self.reloadOnChange(tokens) }
            defer { group.cancelAll() }
            try await application.run(
                stopping: {
                    health.markNotReady()
                    waiters.finish()
                    eventLog.finish()
                }, drained: drained)
        }
    }

    func change(requestsPerSecond: Double) {
        authenticator.change(requestsPerSecond: requestsPerSecond)
        receiptRequests.change(perSecond: requestsPerSecond)
    }

    /// Changes buffered for waiters and event streams before the oldest are dropped.
    private static let backlog = 10_000

    /// Checks the token file for changes once a second, on a thread that may block.
    private static func reloadOnChange(_ tokens: AccessTokens) async {
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            try? await NIOThreadPool.singleton.runIfActive { tokens.refresh() }
        }
    }
}
