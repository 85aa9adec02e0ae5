import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Crypto
import Foundation
import Logging
import MediaTypes
import Metrics
import SQLStore
import SQLiteDatabase
import Synchronization
import TestSupport

/// A worker with a store of its own, and the preparer of a test.
final class WorkerBench: Sendable {
    let folder: TemporaryFolder
    let feed = JobFeed()
    let store: SQLJobStore
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
        // No delay between attempts; everything else as by default.
        settings.retries.backOffSeconds = 0
        change(&settings)
        self.settings = settings
    }

    /// With a scripted preparer; the script receives the output folder.
    convenience init(
        _ change: (inout WorkerSettings) -> Void = { _ in },
        script:
            @escaping @Sendable (_ task: PreparationTask, _ number: Int, _ output: String) async -> PreparationResult
    ) async throws {
        try await self.init(change) { output in
            ScriptedPreparer(output: output) { await script($0, $1, output) }
        }
    }

    var tasks: [PreparationTask] { (preparer as? ScriptedPreparer)?.tasks ?? [] }

    func makeWorker(on other: (any JobStore)? = nil) -> JobWorker {
        JobWorker(
            store: other ?? store, preparer: preparer, feed: feed, settings: settings,
            metrics: JobMetrics(factory: metrics), logger: logger)
    }

    /// Runs a worker during the body, then drains it.
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
        guard let job = try await store.job(id) else { throw MissingError("no job \(id)") }
        return job
    }

    /// Waits until a job has ended, and returns it.
    @discardableResult
    func ended(_ id: JobID) async throws -> Job {
        try await pollUntil("the end of job \(id)") { try await self.job(id).state.isFinished }
        return try await job(id)
    }

    func webhooks() async throws -> [Webhook] {
        try await store.webhooks(WebhookFilter(), after: nil, limit: 100).webhooks
    }
}

/// A preparer that runs the script of a test and records its tasks.
final class ScriptedPreparer: JobPreparing {
    typealias Script = @Sendable (_ task: PreparationTask, _ number: Int) async -> PreparationResult

    let output: String
    let keepsFolders: Bool
    private let probing: @Sendable (Dependency) throws -> Void
    private let script: Script
    private let recorded = Mutex<[PreparationTask]>([])

    /// - Parameters:
    ///   - probe: throws when a dependency is away.
    ///   - script: receives the number of the task, from 1.
    init(
        output: String, keepsFolders: Bool = true, probe: @escaping @Sendable (Dependency) throws -> Void = { _ in },
        _ script: @escaping Script
    ) {
        self.output = output
        self.keepsFolders = keepsFolders
        self.script = script
        probing = probe
    }

    func probe(_ dependency: Dependency) throws { try probing(dependency) }

    var tasks: [PreparationTask] { recorded.withLock { $0 } }

    var statistics: PreparerStatistics { PreparerStatistics(downloadedBytes: tasks.count * 1000) }

    func prepare(_ task: PreparationTask) async -> PreparationResult {
        let number = recorded.withLock { recorded in
            recorded.append(task)
            return recorded.count
        }
        return await script(task, number)
    }
}

extension PreparationTask {
    /// A result whose attachment has the given text, with its file in the task's folder.
    func prepared(
        in output: String, _ text: String = "meow", _ outcome: Outcome = .passed, _ freshness: SourceFreshness? = nil
    ) -> PreparationResult {
        var manifest = Manifest(
            id: request.id ?? "derived", requestDigest: "digest", outcome: outcome,
            source: ManifestSource(url: request.source))
        let digest = SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
        manifest.attachment = ManifestFile(
            file: "attachment.jpg", type: .jpeg, bytes: text.utf8.count, sha256: digest)
        manifest.timings.transfer = 5
        manifest.timings.total = 60_000
        let path = "\(output)/\(folder ?? manifest.id)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try? Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/attachment.jpg"))
        return .ended(manifest, freshness)
    }

    func rejected(_ code: ErrorCode) -> PreparationResult {
        var manifest = Manifest(
            id: request.id ?? "derived", requestDigest: "digest", outcome: .rejected,
            source: ManifestSource(url: request.source))
        manifest.error = ManifestError(AttachPrepError(code, "It did not work."))
        return .ended(manifest, nil)
    }
}

/// Returns when the task is cancelled.
func untilCancelled() async {
    // A stream without elements ends when its task is cancelled.
    for await _ in AsyncStream<Void>.makeStream().stream {}
}

/// Records counters and measurements by name and labels: `jobs_ended_total{state=failed,code=internal}`.
final class CountedMetrics: MetricsFactory {
    private let numbers = Mutex<[String: Double]>([:])

    func value(_ name: String) -> Double? { numbers.withLock { $0["attachprep_\(name)"] } }

    private func change(_ name: String, _ change: (inout Double) -> Void) {
        numbers.withLock { change(&$0[name, default: 0]) }
    }

    private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
        let name: String
        let metrics: CountedMetrics

        init(_ label: String, _ dimensions: [(String, String)], _ metrics: CountedMetrics) {
            let labels = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
            name = labels.isEmpty ? label : "\(label){\(labels)}"
            self.metrics = metrics
        }

        func increment(by amount: Int64) { metrics.change(name) { $0 += Double(amount) } }
        func reset() {}
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { metrics.change(name) { $0 = value } }
        func recordNanoseconds(_ duration: Int64) { metrics.change(name) { $0 += 1 } }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler(label, dimensions, self)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler(label, dimensions, self)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handler(label, dimensions, self)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
