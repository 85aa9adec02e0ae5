import AttachPrep
import AttachPrepJobs
import Foundation
import Logging
import RichPush
import SQLiteQueue
import Synchronization
import TestSupport

/// A worker on a store of its own, with the preparer that a test writes down.
final class WorkerBench: Sendable {
    let folder: TemporaryFolder
    let feed = JobFeed()
    let store: SQLiteStore
    let preparer: any JobPreparing
    let metrics = CountedMetrics()
    let settings: WorkerSettings
    private let logger: Logger

    init(_ change: (inout WorkerSettings) -> Void = { _ in }, preparer: (_ output: String) throws -> any JobPreparing)
        async throws
    {
        folder = try TemporaryFolder()
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        self.logger = logger
        store = try await SQLiteStore.open(folder: folder.path("state"), role: .service, feed: feed, logger: logger)
        self.preparer = try preparer(try folder.makeFolder("work"))
        var settings = WorkerSettings()
        // Nobody waits between attempts; everything else is as in life.
        settings.retries.backOffSeconds = 0
        change(&settings)
        self.settings = settings
    }

    /// With a scripted preparer, whose output folder the script is told.
    convenience init(
        _ change: (inout WorkerSettings) -> Void = { _ in },
        script:
            @escaping @Sendable (_ order: PreparationTask, _ number: Int, _ output: String) async -> PreparationResult
    ) async throws {
        try await self.init(change) { output in
            ScriptedPreparer(output: output) { await script($0, $1, output) }
        }
    }

    var orders: [PreparationTask] { (preparer as? ScriptedPreparer)?.orders ?? [] }

    func makeWorker(on other: (any JobStore)? = nil) -> JobWorker {
        JobWorker(
            store: other ?? store, preparer: preparer, feed: feed, settings: settings,
            metrics: JobMetrics(factory: metrics), logger: logger)
    }

    /// Has a worker run while the body does, and drains it.
    @discardableResult
    func working<Result: Sendable>(
        drain: Duration = .seconds(30), on other: (any JobStore)? = nil,
        _ body: @Sendable (JobWorker) async throws -> Result
    ) async throws -> Result {
        let worker = makeWorker(on: other)
        let run = Task { await worker.run() }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(worker)) } catch { result = .failure(error) }
        await worker.drain(within: drain)
        await run.value
        return try result.get()
    }

    func enqueue(_ submissions: JobSubmission...) async throws -> [JobID] {
        try await store.enqueue(submissions, idempotency: nil).jobs.map(\.id)
    }

    func job(_ id: JobID) async throws -> Job {
        guard let job = try await store.job(id) else { throw Missing("no job \(id)") }
        return job
    }

    /// The job when it has ended.
    @discardableResult
    func ended(_ id: JobID) async throws -> Job {
        try await askUntil("the end of job \(id)") { try await self.job(id).state.isFinished }
        return try await job(id)
    }

    func webhooks() async throws -> [Webhook] {
        try await store.webhooks(WebhookFilter(), after: nil, limit: 100).webhooks
    }
}
