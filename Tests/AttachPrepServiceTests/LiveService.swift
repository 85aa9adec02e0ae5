import AttachPrepJobs
import Logging
import MediaTypes
import ServiceLifecycle
import TestSupport

@testable import AttachPrepService
@testable import SQLStore
@testable import SQLiteDatabase

/// A service that listens on its own port, with a store in memory.
final class LiveService: Sendable {
    let folder: TemporaryFolder
    let feed: JobFeed
    let store: MemoryStore
    /// Receipts are stored in a separate SQLite store.
    let receiptService: ReceiptService
    let port: Int
    let service: AttachmentService
    let token: String?
    private let receiptFolder: TemporaryFolder
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    static let token = "a-token-for-tests-0123456789"

    init(
        token: String? = LiveService.token, tokens: AccessTokens? = nil, sendsWebhooks: Bool = true,
        reasons: [String] = [], serviceStatus: ServiceStatus = ServiceStatus(), keptIn other: (any JobStore)? = nil,
        feed: JobFeed = JobFeed(), metrics: HTTPMetrics? = nil, drain: LoopbackGate? = nil,
        _ change: (inout ServiceSettings) -> Void = { _ in }
    ) async throws {
        self.feed = feed
        folder = try TemporaryFolder()
        receiptFolder = try TemporaryFolder()
        store = MemoryStore(folder: folder.path, feed: feed)
        self.token = token
        let receipts =
            if let store = other as? SQLJobStore { store } else {
                try await SQLiteStore.open(folder: receiptFolder.path, role: .service, feed: JobFeed())
            }
        let receiptService = ReceiptService(store: receipts, key: .random(), baseURL: "https://push.example")
        self.receiptService = receiptService
        var settings = ServiceSettings()
        settings.port = 0
        settings.baseURL = "https://media.example"
        change(&settings)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let service = try AttachmentService(
            store: other ?? store,
            validator: SubmissionValidator(uploads: other ?? store, sendsWebhooks: sendsWebhooks), feed: feed,
            receiptService: receiptService,
            tokens: try tokens ?? AccessTokens(token.map { [$0] } ?? [], logger: logger),
            settings: settings,
            health: HealthRoutes(
                metricsPage: { _ in "attachprep_jobs 1\n" }, readiness: { ReadinessReport(reasons: reasons) }),
            serviceStatus: serviceStatus, metrics: metrics, logger: logger,
            drained: { await drain?.waitUntilOpen() })
        self.service = service
        let group = ServiceGroup(services: [service], logger: logger)
        self.group = group
        running = Task { try await group.run() }
        guard let port = await service.boundPort.value else {
            try await running.value
            throw TestHTTPClient.ResponseError(description: "the service ended before it listened")
        }
        self.port = port
    }

    deinit {
        running.cancel()
    }

    /// A client with the service's token, if there is one.
    var caller: TestHTTPClient {
        TestHTTPClient(port: port, headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [], service: self)
    }

    /// A client without a token.
    var anonymous: TestHTTPClient { TestHTTPClient(port: port, service: self) }

    func beginToStop() async {
        await group.triggerGracefulShutdown()
    }

    func ended() async throws {
        try await running.value
    }

    /// Submits a job.
    func job(_ source: String = "https://media.example.org/cat.webp") async throws -> JobID {
        let response = try await caller.post("/v1/jobs", json: #"{"source": "\#(source)"}"#)
        guard let id = (response.object["id"] as? String).flatMap(JobID.init) else {
            throw TestHTTPClient.ResponseError(description: "no job: \(response.text)")
        }
        return id
    }
}
