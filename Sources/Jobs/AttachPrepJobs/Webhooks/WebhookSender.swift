package import AttachPrep
internal import AttachPrepModel
package import FoundationEssentials
package import Logging
package import MediaTypes
public import Metrics
internal import SafeArithmetic
internal import Synchronization
package import Tracing

/// Sends the webhooks of the outbox that are due and records the results, until it is drained.
///
/// ```swift
/// let sender = WebhookSender(
///     outbox: store, secrets: secrets, client: client, feed: feed, metrics: metrics, logger: logger)
/// async let running: Void = sender.run()
/// await sender.drain(within: .seconds(10))
/// await running
/// ```
///
/// Delivery is at least once: a webhook whose result was not recorded, because the process ended, is sent again with
/// the same id when its lease has expired. When the outbox fails, it is queried again 1 s later.
public final class WebhookSender: Sendable {
    private struct State {
        var limiter = WebhookConcurrencyLimiter()
        /// By number rather than id, because a replayed webhook may be sent again before its last attempt is removed
        /// here.
        var deliveries: [Int: Task<Void, Never>] = [:]
        var lastDelivery = 0
        var isStopping = false
        /// Whether the current outage of the outbox was logged, which happens once.
        var isFailing = false
    }

    let outbox: any WebhookOutbox
    let secrets: WebhookSecrets
    let client: HTTPClient
    let schedule = WebhookSchedule()
    let metrics: WebhookMetrics
    let logger: Logger
    let now: @Sendable () -> Date
    private let feed: JobFeed?
    private let tracer: (any Tracer)?
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// - Parameters:
    ///   - client: HTTP client, owned by the caller, which shuts it down after the sender.
    ///   - feed: wakes the sender when a job ends, instead of at the next poll.
    ///   - tracer: records a span for each attempt whose job is traced.
    ///   - now: the wall clock, replaceable for tests.
    package init(
        outbox: any WebhookOutbox, secrets: WebhookSecrets, client: HTTPClient, feed: JobFeed?,
        metrics: WebhookMetrics, tracer: (any Tracer)? = nil, logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.outbox = outbox
        self.secrets = secrets
        self.client = client
        self.feed = feed
        self.metrics = metrics
        self.tracer = tracer
        self.logger = logger
        self.now = now
        (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Sends webhooks until `drain`, or until its task is cancelled, which cancels attempts in flight at once. Call it
    /// once.
    public func run() async {
        await withTaskCancellationHandler {
            await withTaskGroup { group in
                group.addTask { await self.listen() }
                group.addTask { await self.tick() }
                wakeUp.yield()
                for await _ in wakeUps { await startDue() }
                group.cancelAll()
            }
            await waitForDeliveries()
        } onCancel: {
            stop()
            cancelDeliveries()
        }
    }

    /// Stops claiming, waits for attempts in flight, and cancels those that take longer than `time`.
    public func drain(within time: Duration) async {
        stop()
        let timeout = Task {
            try await ContinuousClock().sleep(for: time)
            cancelDeliveries()
        }
        await waitForDeliveries()
        timeout.cancel()
    }

    private func listen() async {
        guard let feed else { return }
        for await change in feed.changes(backlog: Self.changesMax) where change.state.isFinished { wakeUp.yield() }
    }

    private func tick() async {
        while (try? await ContinuousClock().sleep(for: Self.pause)) != nil { wakeUp.yield() }
    }

    /// Interval between two queries of the outbox; a retry may be late by this much.
    private static let pause = Duration.seconds(1)

    /// Buffered job changes; one change is enough to trigger a query of the outbox.
    private static let changesMax = 16

    private func stop() {
        state.withLock { state in
            state.isStopping = true
            state.limiter.clear()
        }
        wakeUp.finish()
    }

    private func cancelDeliveries() {
        for delivery in state.withLock({ Array($0.deliveries.values) }) { delivery.cancel() }
    }

    private func waitForDeliveries() async {
        for delivery in state.withLock({ Array($0.deliveries.values) }) { await delivery.value }
    }

    // MARK: Claiming

    /// Claims and starts webhooks that are due while the concurrency limits allow it.
    private func startDue() async {
        do {
            while try await claim() {}
            let hasFailed = state.withLock { state in
                defer { state.isFailing = false }
                return state.isFailing
            }
            if hasFailed { logger.notice("the webhook outbox is available again") }
        } catch {
            let isNew = state.withLock { state in
                defer { state.isFailing = true }
                return !state.isFailing
            }
            if isNew { logger.error("the webhook outbox is unavailable", metadata: ["error": "\(error)"]) }
        }
    }

    /// - Returns: Whether more webhooks may be due.
    private func claim() async throws -> Bool {
        startWaiting()
        let (free, isStopping) = state.withLock { ($0.limiter.free, $0.isStopping) }
        guard free > 0, !isStopping, !secrets.current.isEmpty else { return false }
        guard let due = try await outbox.nextWebhookDue(), due <= now() else { return false }
        let lease = Duration.seconds(Limits.webhookLeaseSeconds)
        let end = ContinuousClock.now + lease - .seconds(Limits.webhookSecondsMax)
        let claimed = try await outbox.claimWebhooks(free, lease: lease)
        state.withLock { $0.limiter.add(claimed, until: end) }
        startWaiting()
        return !claimed.isEmpty
    }

    private func startWaiting() {
        state.withLock { state in
            while !state.isStopping, let (webhook, host) = state.limiter.next() {
                state.lastDelivery += 1
                let number = state.lastDelivery
                state.deliveries[number] = Task {
                    await deliver(webhook)
                    finish(number, host: host)
                }
            }
        }
    }

    private func finish(_ number: Int, host: String) {
        state.withLock { state in
            state.deliveries[number] = nil
            state.limiter.finish(host)
        }
        wakeUp.yield()
    }
}

extension WebhookSender {
    func deliver(_ webhook: Webhook) async {
        guard let tracer, let trace = webhook.notice.trace else { return await attempt(webhook) }
        await tracer.withSpan("webhook", context: trace.context(tracer), ofKind: .client) { span in
            span.updateAttributes { attributes in
                attributes["http.request.method"] = "POST"
                attributes["server.address"] = String(webhook.notice.host.prefix { $0 != ":" })
                attributes["http.request.resend_count"] = webhook.attempts > 0 ? webhook.attempts : nil
                attributes["attachprep.job.id"] = webhook.job.text
                attributes["attachprep.webhook.id"] = webhook.id.text
                attributes["attachprep.webhook.event"] = webhook.notice.event.rawValue
            }
            await attempt(webhook, span: span)
        }
    }

    private func attempt(_ webhook: Webhook, span: (any Span)? = nil) async {
        let started = ContinuousClock.now
        guard let reply = await reply(to: webhook) else { return }
        span?.record(reply)
        let outcome = schedule.outcome(
            of: reply, tries: webhook.attempts.adding(clamping: 1), at: now(), chance: .random(in: 0..<1))
        metrics.count(outcome, took: started.duration(to: .now))
        log(webhook, outcome: outcome)
        do {
            try await outbox.record(webhook.id, outcome)
            if reply.isUnwanted { try await giveUpOthers(webhook, reply: reply) }
        } catch {
            // The webhook is sent again when its lease has expired: at-least-once delivery.
            logger.error(
                "the result of a webhook delivery could not be stored",
                metadata: ["webhook": "\(webhook.id)", "job": "\(webhook.job)", "error": "\(error)"])
        }
    }

    /// Nil when this process cancelled the attempt; nothing is recorded then.
    private func reply(to webhook: Webhook) async -> WebhookResponse? {
        let call = WebhookRequest(
            webhook: webhook, secrets: secrets.current, date: now(), trace: .current(tracer)
        ).call
        do {
            let response = try await client.send(call)
            return .answered(host: webhook.notice.host, status: response.status, retryAfter: response.retryAfter)
        } catch let error as AttachPrepError {
            return error.code == .cancelled ? nil : .failed(error)
        } catch {
            return .failed(AttachPrepError(.internal, "The webhook could not be sent.", detail: "\(error)"))
        }
    }

    private func giveUpOthers(_ webhook: Webhook, reply: WebhookResponse) async throws {
        let count = try await outbox.giveUpWebhooks(to: webhook.notice.url, error: reply.sentence)
        metrics.count(givenUp: count)
    }

    private func log(_ webhook: Webhook, outcome: WebhookDeliveryResult) {
        var metadata: Logger.Metadata = [
            "job": "\(webhook.job)", "webhook": "\(webhook.id)", "host": "\(webhook.notice.host)",
            "try": .stringConvertible(webhook.attempts.adding(clamping: 1)),
        ]
        switch outcome {
        case .delivered(let status):
            metadata["status"] = .stringConvertible(status)
            logger.info("webhook delivered", metadata: metadata)
        case .retry(let date, _, let error):
            metadata["next"] = "\(Timestamp.text(date))"
            metadata["error"] = "\(error)"
            logger.warning("webhook delivery failed; it is retried", metadata: metadata)
        case .givenUp(_, let error):
            metadata["error"] = "\(error)"
            logger.error("webhook given up", metadata: metadata)
        }
    }
}

extension Span {
    /// Records the response of a receiver, or the code of the error.
    fileprivate func record(_ reply: WebhookResponse) {
        switch reply {
        case .answered(_, let status, _): attributes["http.response.status_code"] = status
        case .failed(let error): attributes["error.type"] = error.code.rawValue
        }
        guard !reply.isDelivered else { return }
        if let status = reply.status { attributes["error.type"] = String(status) }
        setStatus(SpanStatus(code: .error))
    }
}

/// Limits concurrent deliveries, in total and per host.
struct WebhookConcurrencyLimiter: Sendable {
    private struct Waiting: Sendable {
        let webhook: Webhook
        let host: String
        /// When the remaining lease becomes too short for an attempt.
        let end: ContinuousClock.Instant
    }

    private let inFlightMax: Int
    private let perHostMax: Int
    private var inFlight: [String: Int] = [:]
    private var waiting: [Waiting] = []

    /// Webhooks that wait for the limit of their host; further ones are dropped and claimed again when their lease has
    /// expired.
    private static let waitingMax = 256

    init(inFlightMax: Int = Limits.webhooksInFlightMax, perHostMax: Int = Limits.webhooksPerHostMax) {
        self.inFlightMax = inFlightMax
        self.perHostMax = perHostMax
    }

    /// How many more deliveries may start.
    var free: Int { inFlightMax - inFlight.values.reduce(0, +) }

    /// Adds claimed webhooks to the waiting list.
    ///
    /// - Parameter end: the latest start of an attempt.
    mutating func add(_ webhooks: [Webhook], until end: ContinuousClock.Instant) {
        for webhook in webhooks.prefix(Self.waitingMax - waiting.count) {
            waiting.append(Waiting(webhook: webhook, host: webhook.notice.host, end: end))
        }
    }

    /// Starts the next webhook whose host is below its limit; nil when there is none.
    mutating func next(at now: ContinuousClock.Instant = .now) -> (webhook: Webhook, host: String)? {
        waiting.removeAll { $0.end <= now }
        guard free > 0, let index = waiting.firstIndex(where: { inFlight[$0.host, default: 0] < perHostMax }) else {
            return nil
        }
        let next = waiting.remove(at: index)
        inFlight[next.host, default: 0] += 1
        return (next.webhook, next.host)
    }

    mutating func finish(_ host: String) {
        guard let count = inFlight[host] else { return }
        inFlight[host] = count > 1 ? count - 1 : nil
    }

    /// Drops all waiting webhooks; for a sender that stops.
    mutating func clear() {
        waiting = []
    }
}

/// Metrics of webhooks.
///
/// | name | labels |
/// | --- | --- |
/// | `attachprep_webhooks_total` | `outcome`: delivered, retried, given_up |
/// | `attachprep_webhook_seconds` | |
public struct WebhookMetrics: Sendable {
    /// Attempts by `outcome`: `delivered`, `retried`, `given_up`.
    public static let triesLabel = "attachprep_webhooks_total"
    /// Seconds of an attempt, from the DNS lookup to the end of the response.
    public static let secondsLabel = "attachprep_webhook_seconds"

    private let delivered: Counter
    private let retried: Counter
    private let givenUp: Counter
    private let seconds: Timer

    public init(factory: any MetricsFactory) {
        func counter(_ outcome: String) -> Counter {
            Counter(label: Self.triesLabel, dimensions: [("outcome", outcome)], factory: factory)
        }
        (delivered, retried, givenUp) = (counter("delivered"), counter("retried"), counter("given_up"))
        seconds = Timer(label: Self.secondsLabel, dimensions: [], factory: factory)
    }

    func count(_ outcome: WebhookDeliveryResult, took duration: Duration) {
        switch outcome {
        case .delivered: delivered.increment()
        case .retry: retried.increment()
        case .givenUp: givenUp.increment()
        }
        seconds.recordNanoseconds(Int64(clamping: duration / .nanoseconds(1)))
    }

    /// Counts webhooks that were given up because another one to the same URL was answered with 410.
    func count(givenUp count: Int) {
        givenUp.increment(by: Int64(count))
    }
}

extension Limits {
    /// Concurrent webhooks.
    static let webhooksInFlightMax = 32
    /// After this time, an attempt that was in progress when its process ended is repeated: the time limit of an
    /// attempt and some waiting.
    package static let webhookLeaseSeconds = 60.0
}
