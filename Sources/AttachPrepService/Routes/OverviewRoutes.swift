import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Hummingbird
import RichPush
import Synchronization

/// `GET /v1/overview`: service status, job counts and throughput for the dashboard.
struct OverviewRoutes: Sendable {
    private let statistics: CachedValue<StoreStatistics>
    private let serviceStatus: ServiceStatus
    private let readiness: @Sendable () async -> ReadinessReport
    private let startedAt = Date.now

    init(
        store: any JobStore, serviceStatus: ServiceStatus, readiness: @escaping @Sendable () async -> ReadinessReport
    ) {
        statistics = CachedValue(for: .seconds(Limits.overviewSeconds)) { try await StoreStatistics(of: store) }
        self.serviceStatus = serviceStatus
        self.readiness = readiness
    }

    var endpoints: [Endpoint] { [Endpoint(method: .get, path: "/v1/overview", respond: show)] }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try JSONResponse.response(
            OverviewResponse(
                startedAt: startedAt, statistics: try await statistics.value(), serviceStatus: serviceStatus,
                readiness: await readiness()))
    }
}

/// Statistics of the store at one point in time.
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
    var startedAt: Date
    var statistics: StoreStatistics
    var serviceStatus: ServiceStatus
    var readiness: ReadinessReport

    private enum CodingKeys: String, CodingKey {
        case version, startedAt, takesUploads, errors, webhooks, mediaBytes, hour, children, queue, publish, ready
        case reasons
    }

    private enum PlaceKeys: String, CodingKey {
        case kind, name, target, healthy, reason
    }

    private enum ChildKeys: String, CodingKey {
        case slots, failed, recycled
    }

    func encode(to encoder: any Encoder) throws {
        let numbers = JobCountsResponse(statistics.counts, at: statistics.date)
        try numbers.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(ProductVersion.text, forKey: .version)
        try values.encode(Timestamp.text(startedAt), forKey: .startedAt)
        try values.encode(true, forKey: .takesUploads)
        try values.encode(numbers.errors, forKey: .errors)
        let webhooks = WebhookState.allCases.map { ($0.rawValue, statistics.webhooks[$0] ?? 0) }
        try values.encode(Dictionary(uniqueKeysWithValues: webhooks), forKey: .webhooks)
        try values.encode(statistics.mediaBytes, forKey: .mediaBytes)
        try values.encode(JobPaceResponse(statistics.pace), forKey: .hour)
        try values.encode(readiness.ready, forKey: .ready)
        try values.encode(readiness.reasons, forKey: .reasons)
        try encodePlaces(into: &values)
        try encodeChildren(into: &values)
    }

    private func encodePlaces(into values: inout KeyedEncodingContainer<CodingKeys>) throws {
        var queue = values.nestedContainer(keyedBy: PlaceKeys.self, forKey: .queue)
        try queue.encode(serviceStatus.queueKind, forKey: .kind)
        try queue.encode(serviceStatus.queueName, forKey: .name)
        try Self.encode(serviceStatus.queue(), into: &queue)
        var publish = values.nestedContainer(keyedBy: PlaceKeys.self, forKey: .publish)
        try publish.encode(serviceStatus.publishName, forKey: .target)
        try Self.encode(serviceStatus.publish(), into: &publish)
    }

    private static func encode(
        _ health: ComponentHealth, into values: inout KeyedEncodingContainer<PlaceKeys>
    ) throws {
        try values.encode(health.isHealthy, forKey: .healthy)
        try values.encode(health.reason, forKey: .reason)
    }

    private func encodeChildren(into values: inout KeyedEncodingContainer<CodingKeys>) throws {
        guard let known = serviceStatus.children() else { return try values.encodeNil(forKey: .children) }
        var children = values.nestedContainer(keyedBy: ChildKeys.self, forKey: .children)
        try children.encode(known.slots, forKey: .slots)
        try children.encode(known.replacements.failed, forKey: .failed)
        try children.encode(known.replacements.recycled, forKey: .recycled)
    }
}

/// Job counts by state, the number of due jobs, and the age of the oldest due job.
struct JobCountsResponse: Encodable {
    private let counts: JobCounts
    private let now: Date

    init(_ counts: JobCounts, at now: Date) {
        (self.counts, self.now) = (counts, now)
    }

    private enum CodingKeys: String, CodingKey {
        case jobs, due, oldestDueSeconds
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let states = JobState.allCases.map { ($0.rawValue, counts.byState[$0] ?? 0) }
        try values.encode(Dictionary(uniqueKeysWithValues: states), forKey: .jobs)
        try values.encode(counts.due, forKey: .due)
        let age = counts.oldestDue.map { max(0, now.timeIntervalSince($0)).wholeMilliseconds }
        try values.encode(age, forKey: .oldestDueSeconds)
    }

    /// Counts of failed and dead jobs by error code, the most frequent first.
    var errors: [ErrorCodeCount] {
        counts.byError.map { ErrorCodeCount(code: $0, jobs: $1) }
            .sorted { ($1.jobs, $0.code.rawValue) < ($0.jobs, $1.code.rawValue) }
    }
}

extension Double {
    /// Seconds, rounded to milliseconds.
    // Bounded: floating point, which does not trap.
    var wholeMilliseconds: Double { (self * 1000).rounded() / 1000 }
}

/// The jobs that ended in the last hour: counts and latencies, per minute and in total.
struct JobPaceResponse: Encodable {
    private let pace: JobPace

    init(_ pace: JobPace) {
        self.pace = pace
    }

    private enum CodingKeys: String, CodingKey {
        case until, minutes, succeeded, failed, medianSeconds, p95Seconds
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Timestamp.text(pace.until), forKey: .until)
        try encode(pace.latencies, into: &values)
        var minutes = values.nestedUnkeyedContainer(forKey: .minutes)
        for minute in pace.minutes {
            var members = minutes.nestedContainer(keyedBy: CodingKeys.self)
            try members.encode(minute.succeeded, forKey: .succeeded)
            try members.encode(minute.failed, forKey: .failed)
            try encode(minute.latencies, into: &members)
        }
    }

    private func encode(_ latencies: LatencyHistogram, into values: inout KeyedEncodingContainer<CodingKeys>) throws {
        try values.encode(latencies.percentile(0.5)?.wholeMilliseconds, forKey: .medianSeconds)
        try values.encode(latencies.percentile(0.95)?.wholeMilliseconds, forKey: .p95Seconds)
    }
}

/// The number of failed and dead jobs with an error code.
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

    /// - Throws: the error of the computation, which is not cached.
    func value(at now: ContinuousClock.Instant = .now) async throws -> Value {
        let (number, answer) = state.withLock { state in
            // Bounded: instants of one clock.
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
}
