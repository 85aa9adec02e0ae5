internal import AttachPrep
internal import AttachPrepModel
internal import FoundationEssentials
package import Logging
internal import MediaTypes
package import Metrics
internal import SafeArithmetic
internal import Synchronization

/// Collects finished spans and sends them in batches to a collector, as OTLP over HTTP.
///
/// `add` never waits: when the collector is slow or down, the queue fills, and further spans are dropped and counted.
/// One request is sent at a time. It is repeated as OTLP specifies; when all attempts have failed, its spans are lost.
package final class SpanExporter: Sendable {
    private struct State {
        var queue: [FinishedSpan] = []
        var isStopped = false
        /// Whether the delay has passed since spans that do not fill a batch were last sent.
        var isDelayOver = false
        /// Whether the current outage was logged, which happens once.
        var isFailing = false
    }

    private let configuration: TracingConfiguration
    private let encoder: OTLPEncoder
    private let client: HTTPClient
    private let metrics: SpanMetrics?
    private let logger: Logger
    private let backOffSeconds: Double
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation
    private let state = Mutex(State())
    private let sending = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - metrics: nil for commands, which export none.
    ///   - backOffSeconds: the longest pause before the second attempt, doubled for each further one.
    /// - Throws: `internal` when libcurl does not start.
    package init(
        _ configuration: TracingConfiguration, metrics: SpanMetrics?, logger: Logger,
        backOffSeconds: Double = Limits.spanBackOffSeconds
    ) throws {
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        self.backOffSeconds = backOffSeconds
        encoder = OTLPEncoder(resource: configuration.resource, version: ProductVersion.text)
        // The operator configures the endpoint, which is usually on a private network.
        client = try HTTPClient(
            policy: DownloadPolicy(
                allowsPrivateNetwork: true, certificateAuthorityFile: configuration.certificateAuthorityFile),
            trustsServers: true,
            onAbandonedLoop: { [logger] in
                logger.error(
                    "trace thread abandoned: libcurl did not return", metadata: ["abandoned": .stringConvertible($0)])
            })
        (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        for warning in configuration.warnings {
            logger.warning("trace setting ignored", metadata: ["reason": "\(warning)"])
        }
        let task = Task { await run() }
        sending.withLock { $0 = task }
    }

    /// Takes a finished span; drops it when the queue is full.
    func add(_ span: FinishedSpan) {
        let (isTaken, isDue) = state.withLock { state -> (Bool, Bool) in
            guard !state.isStopped, state.queue.count < configuration.batch.queueMax else { return (false, false) }
            state.queue.append(span)
            return (true, state.queue.count >= configuration.batch.batchMax)
        }
        if !isTaken { metrics?.dropped.increment() }
        if isDue { wakeUp.yield() }
    }

    /// Sends the spans that wait, for at most `limit`, and closes the connection. Spans that end later are dropped.
    package func shutdown(within limit: Duration) async {
        state.withLock { $0.isStopped = true }
        wakeUp.yield()
        wakeUp.finish()
        let task = sending.withLock { $0 }
        let timeout = Task {
            try await ContinuousClock().sleep(for: limit)
            task?.cancel()
        }
        await task?.value
        timeout.cancel()
        await client.shutdown()
    }

    // MARK: Sending

    private func run() async {
        await withTaskGroup { group in
            group.addTask { [self] in
                while (try? await ContinuousClock().sleep(for: configuration.batch.delay)) != nil {
                    state.withLock { $0.isDelayOver = true }
                    wakeUp.yield()
                }
            }
            for await _ in wakeUps {
                while !Task.isCancelled, let batch = nextBatch() { await send(batch) }
            }
            group.cancelAll()
        }
        // What a shutdown had no time for.
        let left = state.withLock { $0.queue.count }
        if left > 0 { metrics?.dropped.increment(by: Int64(left)) }
    }

    /// A full batch; after the delay, and when the exporter is stopped, also one that is not full.
    private func nextBatch() -> [FinishedSpan]? {
        state.withLock { state in
            let isFull = state.queue.count >= configuration.batch.batchMax
            let isDue = state.isDelayOver || state.isStopped
            guard isFull || isDue && !state.queue.isEmpty else {
                state.isDelayOver = false
                return nil
            }
            let batch = Array(state.queue.prefix(configuration.batch.batchMax))
            state.queue.removeFirst(batch.count)
            return batch
        }
    }

    private func send(_ batch: [FinishedSpan]) async {
        guard let body = try? encoder.request(batch) else { return lose(batch, reason: "they cannot be encoded") }
        var attempts = 1
        while true {
            switch await attempt(body) {
            case .accepted(let rejected):
                let lost = min(max(0, rejected), batch.count)
                metrics?.exported.increment(by: Int64(batch.count - lost))
                metrics?.failed.increment(by: Int64(lost))
                noteSuccess()
                return
            case .temporary(let reason, let retryAfter):
                guard !Task.isCancelled, await pause(afterTries: attempts, retryAfter) else {
                    return lose(batch, reason: reason)
                }
                attempts += 1
            case .permanent(let reason): return lose(batch, reason: reason)
            }
        }
    }

    private enum Delivery {
        case accepted(rejected: Int)
        case temporary(String, retryAfter: Duration?)
        case permanent(String)
    }

    private func attempt(_ body: [UInt8]) async -> Delivery {
        var request = HTTPClientRequest(
            .post, configuration.endpoint, headers: [("content-type", "application/json")] + configuration.headers,
            body: body, responseBytesMax: Limits.spanResponseBytesMax, deadline: .now + configuration.timeout)
        request.bodyBytesMax = Limits.spanRequestBytesMax
        do {
            let response = try await client.send(request)
            switch response.status {
            case 200...299: return .accepted(rejected: PartialSuccess.rejectedSpans(response.body))
            case 429, 502, 503, 504:
                return .temporary("it answered \(response.status)", retryAfter: response.retryAfter)
            default: return .permanent("it answered \(response.status)")
            }
        } catch let error as AttachPrepError {
            // Messages of these errors name the host only.
            return error.isRetryable ? .temporary(error.message, retryAfter: nil) : .permanent(error.message)
        } catch {
            return .permanent("it could not be reached")
        }
    }

    /// - Returns: False after the last attempt, and when the exporter is being stopped.
    private func pause(afterTries tries: Int, _ retryAfter: Duration?) async -> Bool {
        var schedule = RetrySchedule(backOff: .seconds(clamping: backOffSeconds))
        schedule.attemptsMax = Limits.spanAttemptsMax
        let requested = retryAfter.map { min($0, .seconds(Limits.spanRetryAfterSecondsMax)) }
        let unlimited = Duration.seconds(Int32.max)
        let delay = schedule.delay(
            afterTries: tries, chance: .random(in: 0.5...1), retryAfter: requested, timeLeft: unlimited)
        guard let delay else { return false }
        return (try? await ContinuousClock().sleep(for: delay)) != nil
    }

    private func lose(_ batch: [FinishedSpan], reason: String) {
        metrics?.failed.increment(by: Int64(batch.count))
        let isNew = state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
        if isNew { logger.warning("traces cannot be sent", metadata: ["reason": "\(reason)"]) }
    }

    private func noteSuccess() {
        let hasFailed = state.withLock { state in
            defer { state.isFailing = false }
            return state.isFailing
        }
        if hasFailed { logger.notice("traces are sent again") }
    }
}

/// What a collector answers when it kept only some of the spans.
struct PartialSuccess: Decodable {
    private struct Part: Decodable {
        let rejectedSpans: Count?
    }

    /// A 64-bit integer, which the JSON of Protocol Buffers writes as text or as a number.
    private struct Count: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let single = try decoder.singleValueContainer()
            if let number = try? single.decode(Int.self) {
                value = number
            } else {
                value = Int(try single.decode(String.self)) ?? 0
            }
        }
    }

    private let partialSuccess: Part?

    /// 0 for any other response.
    static func rejectedSpans(_ body: [UInt8]) -> Int {
        let response = try? ForeignJSON.decode(PartialSuccess.self, from: body)
        return response?.partialSuccess?.rejectedSpans?.value ?? 0
    }
}

/// Metrics of the exporter.
///
/// | name | labels |
/// | --- | --- |
/// | `attachprep_trace_spans_total` | `outcome`: exported, dropped, failed |
package struct SpanMetrics: Sendable {
    package static let spansLabel = "attachprep_trace_spans_total"

    let exported: Counter
    /// The queue was full, or the process ended.
    let dropped: Counter
    /// The collector rejected them or was down.
    let failed: Counter

    package init(factory: any MetricsFactory) {
        func counter(_ outcome: String) -> Counter {
            Counter(label: Self.spansLabel, dimensions: [("outcome", outcome)], factory: factory)
        }
        (exported, dropped, failed) = (counter("exported"), counter("dropped"), counter("failed"))
    }
}

extension Limits {
    /// Attempts of one request to the collector, including the first: some 15 s of pauses.
    static let spanAttemptsMax = 5
    /// The longest pause before the second attempt; doubled for each further one.
    package static let spanBackOffSeconds = 1.0
    /// The longest `Retry-After` that is followed; the queue fills meanwhile.
    static let spanRetryAfterSecondsMax = 60.0
    /// Bytes of a request: a span has some 700.
    static let spanRequestBytesMax = 64_000_000
    /// Bytes of the collector's response that are read: counts and a sentence.
    static let spanResponseBytesMax = 16_384
    /// Time for the last spans when a process ends.
    package static let spanFlushSeconds = 3.0
}
