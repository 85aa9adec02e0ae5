import AttachPrep
package import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Hummingbird
import MediaTypes
import Synchronization

/// `GET /v1/overview`: service status, job counts and throughput for the dashboard.
struct OverviewRoutes: Sendable {
    private let statistics: CachedValue<StoreStatistics>
    private let history: CachedValue<JobHistoryResponse>
    private let store: any JobStore
    private let serviceStatus: ServiceStatus
    private let readiness: @Sendable () async -> ReadinessReport
    private let startedAt = Date.now

    init(
        store: any JobStore, serviceStatus: ServiceStatus, readiness: @escaping @Sendable () async -> ReadinessReport
    ) {
        statistics = CachedValue(for: .seconds(Limits.overviewSeconds)) { try await StoreStatistics(of: store) }
        history = CachedValue(for: .seconds(Limits.historySeconds)) {
            let end = JobHistoryResponse.end(at: .now)
            return JobHistoryResponse(try await store.history(until: end), until: end)
        }
        self.store = store
        self.serviceStatus = serviceStatus
        self.readiness = readiness
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/v1/overview", respond: show),
            Endpoint(method: .get, path: "/v1/history", respond: showHistory),
        ]
    }

    @Sendable private func showHistory(_ request: Request, in context: ServiceContext) async throws -> Response {
        try JSONResponse.response(try await history.value())
    }

    @Sendable private func show(_ request: Request, in context: ServiceContext) async throws -> Response {
        try JSONResponse.response(
            OverviewResponse(
                startedAt: startedAt, statistics: try await statistics.value(), serviceStatus: serviceStatus,
                readiness: await readiness(), workers: try await serviceStatus.workers(),
                pauses: try await store.pauses()))
    }
}

struct StoreStatistics: Sendable {
    var date: Date
    var counts: JobCounts
    var webhooks: [WebhookState: Int]
    /// Decimal bytes.
    var mediaBytes: Int
    var pace: JobPace

    init(of store: any JobStore) async throws {
        date = .now
        counts = try await store.counts()
        webhooks = try await store.webhookCounts()
        mediaBytes = try await store.mediaBytes()
        pace = try await store.pace(until: date)
    }
}

/// The response of `GET /v1/overview`, which the header of the dashboard shows.
struct OverviewResponse: Encodable {
    struct Queue: Encodable {
        var kind: ServiceStatus.QueueKind
        var name: String
        @Nullable var healthy: Bool?
        @Nullable var reason: String?
    }

    struct Target: Encodable {
        var target: String
        @Nullable var healthy: Bool?
        @Nullable var reason: String?
    }

    private let jobs: [String: Int]
    private let due: Int
    private let paused: Int
    @Nullable private var oldestDueSeconds: Double?
    private let version = ProductVersion.text
    private let startedAt: String
    private let takesUploads = true
    private let errors: [ErrorCodeCount]
    private let webhooks: [String: Int]
    private let mediaBytes: Int
    private let hour: JobPaceResponse
    private let ready: Bool
    private let reasons: [String]
    private let queue: Queue
    private let publish: Target
    /// The API's key for media processes.
    @Nullable private var children: ServiceStatus.MediaProcesses?
    private let workers: [WorkerResponse]
    private let pauses: [JobPause]

    init(
        startedAt: Date, statistics: StoreStatistics, serviceStatus: ServiceStatus, readiness: ReadinessReport,
        workers: [WorkerReport], pauses: [JobPause]
    ) {
        let counts = JobCountsResponse(statistics.counts, at: statistics.date)
        (jobs, due, paused) = (counts.jobs, counts.due, counts.paused)
        oldestDueSeconds = counts.oldestDueSeconds
        self.startedAt = Timestamp.text(startedAt)
        // The most frequent error first.
        errors = statistics.counts.byError.map { ErrorCodeCount(code: $0, jobs: $1) }
            .sorted { ($1.jobs, $0.code.rawValue) < ($0.jobs, $1.code.rawValue) }
        webhooks = Dictionary(
            uniqueKeysWithValues: WebhookState.allCases.map { ($0.rawValue, statistics.webhooks[$0] ?? 0) })
        mediaBytes = statistics.mediaBytes
        hour = JobPaceResponse(statistics.pace)
        (ready, reasons) = (readiness.ready, readiness.reasons)
        let (queueHealth, publishHealth) = (serviceStatus.queue(), serviceStatus.publish())
        queue = Queue(
            kind: serviceStatus.queueKind, name: serviceStatus.queueName, healthy: queueHealth.isHealthy,
            reason: queueHealth.reason)
        publish = Target(
            target: serviceStatus.publishName, healthy: publishHealth.isHealthy, reason: publishHealth.reason)
        children = serviceStatus.mediaProcesses()
        self.workers = workers.map(WorkerResponse.init)
        self.pauses = pauses
    }
}

/// A process that takes jobs from the queue, on any machine.
package struct WorkerResponse: Codable, Sendable {
    package let name: String
    package let host: String
    package let version: String
    package let startedAt: String
    package let reportedAt: String
    package let running: Int
    package let concurrency: Int
    package let mediaSlots: Int
    package let draining: Bool
    /// What its jobs wait for.
    package let outages: [DependencyOutage]

    package init(_ report: WorkerReport) {
        (name, host, version) = (report.name, report.host, report.version)
        startedAt = Timestamp.text(report.startedAt)
        reportedAt = Timestamp.text(report.reportedAt)
        (running, concurrency, mediaSlots) = (report.running, report.concurrency, report.mediaSlots)
        draining = report.isDraining
        outages = report.outages
    }
}

/// Job counts by state, the numbers of due and of paused jobs, and the age of the oldest due job.
struct JobCountsResponse: Encodable {
    let jobs: [String: Int]
    let due: Int
    let paused: Int
    @Nullable var oldestDueSeconds: Double?

    init(_ counts: JobCounts, at now: Date) {
        jobs = Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, counts.byState[$0] ?? 0) })
        (due, paused) = (counts.due, counts.paused)
        oldestDueSeconds = counts.oldestDue.map { max(0, now.timeIntervalSince($0)).wholeMilliseconds }
    }
}

extension Double {
    /// Seconds, rounded to milliseconds.
    var wholeMilliseconds: Double { (self * 1000).rounded() / 1000 }
}

/// The jobs that ended in the last hour: counts and latencies, per minute and in total.
struct JobPaceResponse: Encodable {
    struct Minute: Encodable {
        let succeeded: Int
        let failed: Int
        @Nullable var medianSeconds: Double?
        @Nullable var p95Seconds: Double?
    }

    private let until: String
    @Nullable private var medianSeconds: Double?
    @Nullable private var p95Seconds: Double?
    private let minutes: [Minute]

    init(_ pace: JobPace) {
        until = Timestamp.text(pace.until)
        medianSeconds = pace.latencies.percentile(0.5)?.wholeMilliseconds
        p95Seconds = pace.latencies.percentile(0.95)?.wholeMilliseconds
        minutes = pace.minutes.map {
            Minute(
                succeeded: $0.succeeded, failed: $0.failed,
                medianSeconds: $0.latencies.percentile(0.5)?.wholeMilliseconds,
                p95Seconds: $0.latencies.percentile(0.95)?.wholeMilliseconds)
        }
    }
}

/// The jobs that ended in each hour of a week.
struct JobHistoryResponse: Encodable {
    struct Hour: Encodable {
        let start: String
        let succeeded: Int
        let failed: Int
        @Nullable var medianSeconds: Double?
        @Nullable var p95Seconds: Double?
    }

    private let hours: [Hour]

    /// - Parameter end: of the last hour.
    init(_ intervals: [JobPace.Interval], until end: Date) {
        hours = intervals.enumerated().map { index, interval in
            Hour(
                start: Timestamp.text(end.addingTimeInterval(-3600 * Double(intervals.count - index))),
                succeeded: interval.succeeded, failed: interval.failed,
                medianSeconds: interval.latencies.percentile(0.5)?.wholeMilliseconds,
                p95Seconds: interval.latencies.percentile(0.95)?.wholeMilliseconds)
        }
    }

    /// The end of the hour that a time is in, so that hours begin with those of the clock.
    static func end(at now: Date) -> Date {
        Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 3600).rounded(.down) * 3600 + 3600)
    }
}

struct ErrorCodeCount: Encodable {
    var code: ErrorCode
    var jobs: Int
}

/// A value that is computed once for concurrent callers, and again when it has expired.
final class CachedValue<Value: Sendable>: Sendable {
    private struct State {
        var last = 0
        var answer: Task<Value, any Error>?
        var askedAt = ContinuousClock.now
    }

    private let time: Duration
    private let ask: @Sendable () async throws -> Value
    private let state = Mutex(State())

    /// - Parameter time: how long a value is valid, from the start of its computation.
    init(for time: Duration, _ ask: @escaping @Sendable () async throws -> Value) {
        (self.time, self.ask) = (time, ask)
    }

    /// - Throws: The error of the computation, which is not cached.
    func value(at now: ContinuousClock.Instant = .now) async throws -> Value {
        let (number, answer) = state.withLock { state in
            if let answer = state.answer, now - state.askedAt < time { return (state.last, answer) }
            // Unstructured: a caller that disconnects must not cancel the computation for the others.
            let answer = Task { [ask] in try await ask() }
            state.last += 1
            (state.answer, state.askedAt) = (answer, now)
            return (state.last, answer)
        }
        do {
            return try await answer.value
        } catch {
            state.withLock { if $0.last == number { $0.answer = nil } }
            throw error
        }
    }
}

extension Limits {
    /// How long the overview is cached: computing it for a busy hour takes 0.1 s of a core.
    static let overviewSeconds = 1.5
    /// How long the history is cached: a week of a million jobs takes a second or two.
    static let historySeconds = 60.0
}
