package import AttachPrep
package import Logging
internal import RichPush
internal import Synchronization

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Works off the outbox: sends what is due, and notes what came of it, until it is told to stop.
///
/// ```swift
/// let sender = WebhookSender(
///     outbox: store, secrets: secrets, calls: calls, feed: feed, metrics: metrics, logger: logger)
/// async let running: Void = sender.run()
/// await sender.drain(within: .seconds(10))
/// await running
/// ```
///
/// At least once: a webhook whose try was not noted, because the process ended, is sent again when its lease is over,
/// under the same id. What the outbox cannot do now is tried again a second later.
public final class WebhookSender: Sendable {
    private struct State {
        var lanes = WebhookLanes()
        /// By number: a webhook that is replayed may be sent again before its last try is put away.
        var deliveries: [Int: Task<Void, Never>] = [:]
        var lastDelivery = 0
        var isStopping = false
        /// Whether the outbox's last failure was reported, which is done once.
        var isFailing = false
    }

    let outbox: any WebhookOutbox
    let secrets: WebhookSecrets
    let calls: CallSender
    let schedule = WebhookSchedule()
    let metrics: WebhookMetrics
    let logger: Logger
    let now: @Sendable () -> Date
    private let feed: JobFeed?
    private let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// - Parameters:
    ///   - calls: belongs to the caller, who shuts it down after this.
    ///   - feed: tells that jobs have ended, so that nobody waits for the next look at the outbox.
    ///   - now: the wall clock, for tests.
    package init(
        outbox: any WebhookOutbox, secrets: WebhookSecrets, calls: CallSender, feed: JobFeed?,
        metrics: WebhookMetrics, logger: Logger, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.outbox = outbox
        self.secrets = secrets
        self.calls = calls
        self.feed = feed
        self.metrics = metrics
        self.logger = logger
        self.now = now
        (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Returns after `drain`, or when its task is cancelled, which gives up the tries under way at once. Run it once.
    public func run() async {
        await withTaskCancellationHandler {
            await withTaskGroup { group in
                group.addTask { await self.listen() }
                group.addTask { await self.tick() }
                ring.yield()
                for await _ in bell { await startDue() }
                group.cancelAll()
            }
            await ended()
        } onCancel: {
            stop()
            cut()
        }
    }

    /// Claims nothing more, waits for the tries under way, and gives up those that take longer.
    public func drain(within time: Duration) async {
        stop()
        let alarm = Task {
            try await ContinuousClock().sleep(for: time)
            cut()
        }
        await ended()
        alarm.cancel()
    }

    private func listen() async {
        guard let feed else { return }
        for await change in feed.changes(backlog: Self.changesMax) where change.state.isFinished { ring.yield() }
    }

    private func tick() async {
        while (try? await ContinuousClock().sleep(for: Self.pause)) != nil { ring.yield() }
    }

    /// Between two looks at the outbox: a retry may be so much late.
    private static let pause = Duration.seconds(1)

    /// Changes that may lie unread: one that ends a job is enough to look at the outbox.
    private static let changesMax = 16

    private func stop() {
        state.withLock { state in
            state.isStopping = true
            state.lanes.clear()
        }
        ring.finish()
    }

    private func cut() {
        for delivery in state.withLock({ Array($0.deliveries.values) }) { delivery.cancel() }
    }

    private func ended() async {
        for delivery in state.withLock({ Array($0.deliveries.values) }) { await delivery.value }
    }

    // MARK: What is due

    /// Claims and starts what is due, as long as there are places.
    private func startDue() async {
        do {
            while try await claim() {}
            let hasFailed = state.withLock { state in
                defer { state.isFailing = false }
                return state.isFailing
            }
            if hasFailed { logger.notice("the outbox of webhooks is there again") }
        } catch {
            let isNew = state.withLock { state in
                defer { state.isFailing = true }
                return !state.isFailing
            }
            if isNew { logger.error("the outbox of webhooks failed", metadata: ["error": "\(error)"]) }
        }
    }

    /// - Returns: whether there may be more.
    private func claim() async throws -> Bool {
        startWaiting()
        let (free, isStopping) = state.withLock { ($0.lanes.free, $0.isStopping) }
        guard free > 0, !isStopping, !secrets.current.isEmpty else { return false }
        guard let due = try await outbox.nextWebhookDue(), due <= now() else { return false }
        let lease = Duration.seconds(Limits.webhookLeaseSeconds)
        // Bounded: spans of our own settings and limits.
        let end = ContinuousClock.now + lease - .seconds(Limits.webhookSecondsMax)
        let claimed = try await outbox.claimWebhooks(free, lease: lease)
        state.withLock { $0.lanes.add(claimed, until: end) }
        startWaiting()
        return !claimed.isEmpty
    }

    private func startWaiting() {
        state.withLock { state in
            while !state.isStopping, let (webhook, host) = state.lanes.next() {
                state.lastDelivery += 1
                let number = state.lastDelivery
                state.deliveries[number] = Task {
                    await deliver(webhook)
                    finish(number, host)
                }
            }
        }
    }

    private func finish(_ number: Int, _ host: String) {
        state.withLock { state in
            state.deliveries[number] = nil
            state.lanes.finish(host)
        }
        ring.yield()
    }
}
