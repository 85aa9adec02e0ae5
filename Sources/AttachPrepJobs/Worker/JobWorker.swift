import AttachPrep
public import Logging
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Works jobs off: claims as many as there is room for, prepares them side by side, and keeps its leases alive.
///
/// ```swift
/// let worker = JobWorker(
///     store: store, preparer: preparer, feed: feed, settings: WorkerSettings(), metrics: metrics, logger: logger)
/// async let work: Void = worker.run()
/// await worker.drain(within: .seconds(Limits.drainSeconds))
/// ```
public final class JobWorker: Sendable {
    struct State {
        var hasBegun = false
        var isOver = false
        var beatsSoon = false
        /// When the store last renewed the leases.
        var beatenAt = ContinuousClock.now
        /// When it has to be gone; nil while it works on.
        var leavesBy: ContinuousClock.Instant?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let rooms: WorkerRooms
    private let feed: JobFeed
    let bell = WakeBell()
    let state = Mutex(State())

    /// - Parameter feed: the one that the store publishes its changes to.
    public init(
        store: any JobStore, preparer: any JobPreparing, feed: JobFeed, settings: WorkerSettings, metrics: JobMetrics,
        logger: Logger
    ) {
        precondition(settings.concurrency > 0, "a worker has at least one job in hand")
        self.feed = feed
        rooms = WorkerRooms(
            store: store, preparer: preparer, settings: settings, metrics: metrics, pulse: WorkerPulse(logger),
            logs: JobLogBuffer(store), logger: logger)
    }

    /// Whether it takes jobs, as its last call to the store and the last result tell.
    public var health: WorkerHealth {
        let health = rooms.pulse.health
        guard health == .ok, let reason = rooms.storage.reason else { return health }
        return .unavailable(reason)
    }

    /// How many jobs it has in hand.
    public var jobsInHand: Int { rooms.hands.count }

    /// Works until it is drained, or its task is cancelled, which drains it within no time; call it once.
    public func run() async {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        precondition(isFirst, "a worker runs once")
        let changes = feed.changes(backlog: Self.changesMax)
        let heartbeat = HeartbeatThread()
        heartbeat.start(every: rooms.settings.heartbeat) { [self] in await beat() }
        let listening = Task { for await change in changes { hear(change) } }
        let writing = Task { [rooms] in
            while !Task.isCancelled {
                try await ContinuousClock().sleep(for: Self.flushInterval)
                await rooms.logs.flush()
            }
        }
        await withTaskCancellationHandler {
            await work()
            await leave()
        } onCancel: {
            startLeaving(by: .now)
        }
        listening.cancel()
        writing.cancel()
        heartbeat.stop()
        try? await uninterrupted { [rooms] in await rooms.logs.flush() }
        end()
    }

    /// Takes no new jobs, gives those in hand so much time to end, puts the rest back into the queue, and returns when
    /// `run` is about to; may be called again, with less time too.
    public func drain(within limit: Duration) async {
        startLeaving(by: .now + limit)
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.hasBegun, !state.isOver else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// A worker's listener that does not keep up loses the oldest: it needs to know only that there was something.
    private static let changesMax = 256
    /// Lines of jobs' logs are kept that often, many at a time.
    private static let flushInterval = Duration.milliseconds(500)

    private func end() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOver = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
