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
    private struct State {
        var hasBegun = false
        var isOver = false
        var beatsSoon = false
        /// When it has to be gone; nil while it works on.
        var leavesBy: ContinuousClock.Instant?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let rooms: WorkerRooms
    private let feed: JobFeed
    private let bell = WakeBell()
    private let state = Mutex(State())

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

    /// Whether it takes jobs, as its last call to the store tells.
    public var health: WorkerHealth { rooms.pulse.health }

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

    // MARK: Work

    private var leavesBy: ContinuousClock.Instant? { state.withLock { $0.leavesBy } }

    private func work() async {
        var failures = 0
        while leavesBy == nil {
            var pause = rooms.settings.poll
            do {
                if try await !claim() { pause = min(pause, try await untilNextDue()) }
                failures = 0
                rooms.pulse.answered()
            } catch {
                rooms.pulse.failed(error)
                failures += 1
                pause = .seconds(min(Self.backOffSeconds * Double(1 << min(failures, 10)), Self.backOffSecondsMax))
            }
            await bell.wait(atMost: pause)
        }
    }

    /// A store that does not answer is asked again after that, doubled each time.
    private static let (backOffSeconds, backOffSecondsMax) = (0.1, 5.0)

    /// Fills the room that there is; tells whether all of it was filled.
    private func claim() async throws -> Bool {
        let (settings, store) = (rooms.settings, rooms.store)
        let room = settings.concurrency - rooms.hands.count
        guard room > 0 else { return true }
        let jobs = try await store.claim(
            room, by: settings.name, lease: settings.lease, hostLimit: settings.hostLimit)
        // Called off while it was asking: as if it had not.
        if leavesBy != nil { try await release(jobs.map(\.lease)) } else { jobs.forEach(begin) }
        return jobs.count == room
    }

    private func begin(_ job: ClaimedJob) {
        rooms.hands.begin(job.lease) { [rooms, bell] in
            await JobRun(job, rooms).run()
            rooms.hands.end(job.lease)
            bell.ring()
        }
    }

    private func untilNextDue() async throws -> Duration {
        guard let date = try await rooms.store.nextDue() else { return rooms.settings.poll }
        return .seconds(max(0, date.timeIntervalSinceNow))
    }

    private func hear(_ change: JobFeed.Change) {
        switch change.state {
        case .queued: bell.ring()
        // Claimed, or called off while it runs: a beat tells.
        case .running where rooms.hands.contains(change.job): beatSoon()
        default: break
        }
    }

    /// One beat for all that is heard within a moment.
    private func beatSoon() {
        let isFirst = state.withLock { state in
            defer { state.beatsSoon = true }
            return !state.beatsSoon
        }
        guard isFirst else { return }
        Task {
            try await ContinuousClock().sleep(for: Self.moment)
            state.withLock { $0.beatsSoon = false }
            await beat()
        }
    }

    /// Nobody who calls a job off notices less, and a hundred claims in it are one beat.
    private static let moment = Duration.milliseconds(200)

    // MARK: Leases

    /// Renews all leases in one call, and stops the work on those that are no longer to be worked on.
    private func beat() async {
        rooms.metrics.note(rooms.preparer.statistics)
        let leases = rooms.hands.leases
        guard !leases.isEmpty else { return }
        do {
            let standings = try await rooms.store.extend(leases, by: rooms.settings.lease)
            for lease in leases {
                switch standings[lease.job] {
                case .held: break
                case .cancelled: rooms.hands.stop(lease, .cancelled)
                case .lost, nil: rooms.hands.stop(lease, .lost)
                }
            }
            rooms.pulse.answered()
        } catch {
            rooms.pulse.failed(error)
        }
    }

    // MARK: Leaving

    private func startLeaving(by instant: ContinuousClock.Instant) {
        state.withLock { $0.leavesBy = $0.leavesBy.map { min($0, instant) } ?? instant }
        rooms.pulse.leave()
        bell.ring()
    }

    private func leave() async {
        await untilHandsAreEmpty { [self] in leavesBy ?? .now }
        let leases = rooms.hands.leases
        guard !leases.isEmpty else { return }
        rooms.logger.notice("puts jobs back into the queue", metadata: ["count": "\(leases.count)"])
        for lease in leases { rooms.hands.stop(lease, .returned) }
        // Those that ended meanwhile have no lease any more, and nothing happens to them.
        do { try await release(leases) } catch { rooms.pulse.failed(error) }
        let limit = ContinuousClock.now + Self.interruptionMax
        await untilHandsAreEmpty { limit }
    }

    /// Work that is cancelled ends at once but for copying a large file; what it leaves is swept at the next start.
    private static let interruptionMax = Duration.seconds(3)

    private func untilHandsAreEmpty(_ limit: () -> ContinuousClock.Instant) async {
        while rooms.hands.count > 0 {
            let left = ContinuousClock.now.duration(to: limit())
            guard left > .zero else { return }
            await bell.wait(atMost: left)
        }
    }

    private func release(_ leases: [JobLease]) async throws {
        guard !leases.isEmpty else { return }
        try await uninterrupted { [rooms] in try await rooms.store.release(leases) }
    }

    private func end() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOver = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
