public import AttachPrepJobs
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import RichPush
public import ServiceLifecycle

/// The HTTP service: jobs, uploads and results for callers with a token, media for phones.
///
/// ```swift
/// let service = try AttachmentService(
///     store: store, intake: intake, feed: feed, office: office, tokens: tokens, settings: settings,
///     metricsPage: { exporter.page() }, readiness: { ReadinessReport() }, logger: logger)
/// try await ServiceGroup(services: [service], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
public struct AttachmentService: Service, FrontService {
    /// The port it listens on, once it does.
    public let boundPort = BoundPort()

    private let feed: JobFeed
    /// What the feed tells, to our listeners alone: they end with us, the worker's ears do not.
    private let relay = JobFeed()
    private let tokens: AccessTokens
    private let settings: ServiceSettings
    private let logger: Logger
    private let waiters: JobWaiters
    private let health: HealthRoutes
    private let gate: AccessGate
    private let drained: @Sendable () async -> Void
    /// All that can be asked for.
    let endpoints: [Endpoint]

    /// - Parameters:
    ///   - feed: the one that the store tells of its changes.
    ///   - office: takes devices' receipts.
    ///   - metricsPage: the text of `/metrics`.
    ///   - readiness: asked with each `/readyz`.
    /// - Throws: `request.invalid` when it would be open to other machines without a token.
    public init(
        store: any JobStore, intake: JobIntake, feed: JobFeed, office: ReceiptOffice, tokens: AccessTokens,
        settings: ServiceSettings,
        metricsPage: @escaping @Sendable () async -> String, readiness: @escaping @Sendable () async -> ReadinessReport,
        logger: Logger
    ) throws {
        try self.init(
            store: store, intake: intake, feed: feed, office: office, tokens: tokens, settings: settings,
            health: HealthRoutes(metricsPage: metricsPage, readiness: readiness), logger: logger)
    }

    init(
        store: any JobStore, intake: JobIntake, feed: JobFeed, office: ReceiptOffice, tokens: AccessTokens,
        settings: ServiceSettings, health: HealthRoutes, surroundings: Surroundings = Surroundings(), logger: Logger,
        drained: @escaping @Sendable () async -> Void = {}
    ) throws {
        try LoopbackRule.check(host: settings.host, tokens: tokens)
        (self.feed, self.tokens, self.settings, self.logger) = (feed, tokens, settings, logger)
        waiters = JobWaiters(waitersMax: settings.connectionsMax)
        (self.health, self.drained) = (health, drained)
        gate = AccessGate(tokens: tokens, settings: settings)
        let submission = JobSubmissionRoutes(
            store: store, intake: intake, waiters: waiters, baseURL: settings.baseURL)
        let payloads = PayloadRoutes(
            jobs: PayloadJobs(
                store: store, intake: intake, waiters: waiters, baseURL: settings.baseURL,
                secondsMax: settings.payloadSecondsMax),
            office: office, knowsAddresses: settings.baseURL != nil || !settings.servesFiles)
        let receipts = ReceiptRoutes(
            office: office,
            requests: TokenBuckets(perSecond: settings.requestsPerSecondMax, namesMax: Limits.countedAddressesMax),
            wrongTokens: TokenBuckets(
                perSecond: settings.wrongTokensPerSecondMax, namesMax: Limits.countedAddressesMax))
        let numbers = NumbersFeed(every: Limits.eventCountsSeconds) { try await store.counts() }
        let events = EventRoutes(
            feed: relay, numbers: numbers, heartbeatSeconds: Limits.eventHeartbeatSeconds)
        let overview = OverviewRoutes(store: store, surroundings: surroundings) { await health.report() }
        endpoints =
            submission.endpoints + payloads.endpoints
            + JobRoutes(store: store, waiters: waiters, baseURL: settings.baseURL).endpoints
            + WebhookRoutes(store: store).endpoints + UploadRoutes(store: store).endpoints + events.endpoints
            + overview.endpoints
            + receipts.endpoints + CampaignRoutes(office: office).endpoints
            + MediaRoutes(store: store).endpoints + health.endpoints
            + SessionRoutes(gate: gate).endpoints
            + PageRoutes(policy: PagePolicy(settings), document: OpenAPIDocument.bytes).endpoints
    }

    /// Serves until it is asked to stop: then it answers those who wait for a job at once, ends streams of events,
    /// finishes the answers it has begun, and answers new connections' probes until running jobs have ended.
    public func run() async throws {
        let changes = feed.changes(backlog: Self.backlog)
        let application = FrontApplication(
            endpoints: endpoints, gate: gate, settings: settings, port: boundPort, logger: logger
        )
        defer { boundPort.end() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [waiters, relay] in
                for await change in changes {
                    relay.publish([change])
                    waiters.hear(change)
                }
            }
            group.addTask { [tokens] in await Self.watch(tokens) }
            defer { group.cancelAll() }
            try await application.run(
                stopping: {
                    health.leave()
                    waiters.finish()
                    relay.finish()
                }, drained: drained)
        }
    }

    /// Changes that a busy moment may leave unheard for a while.
    private static let backlog = 10_000

    /// Looks at the token file once a second, on a thread that may block.
    private static func watch(_ tokens: AccessTokens) async {
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            try? await FileThreads.run { tokens.refresh() }
        }
    }
}
