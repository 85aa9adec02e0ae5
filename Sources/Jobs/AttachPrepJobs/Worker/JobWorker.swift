import AttachPrep
import AttachPrepModel
import FoundationEssentials
public import Logging
import SafeArithmetic
import Synchronization
public import Tracing

/// Processes jobs: claims up to `concurrency` of them, prepares them in parallel, and renews their leases.
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
        var isRenewalScheduled = false
        /// Time of the last successful renewal.
        var lastRenewedAt = ContinuousClock.now
        /// Deadline of the shutdown; nil while the worker is not draining.
        var drainDeadline: ContinuousClock.Instant?
        /// When overdue jobs are claimed again.
        var nextOverdueAt = ContinuousClock.now
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let dependencies: WorkerDependencies
    private let feed: JobFeed
    let wakeSignal = WakeSignal()
    let state = Mutex(State())
    /// Maximum number of jobs of one host; begins with that of the settings.
    private let hostLimit: Atomic<Int>

    /// - Parameters:
    ///   - feed: the feed to which the store publishes its changes.
    ///   - tracer: records a span for each attempt; nil records none.
    public init(
        store: any JobStore, preparer: any JobPreparing, feed: JobFeed, settings: WorkerSettings, metrics: JobMetrics,
        tracer: (any Tracer)? = nil, logger: Logger
    ) {
        precondition(settings.concurrency > 0, "concurrency must be greater than 0")
        self.feed = feed
        hostLimit = Atomic(settings.hostLimit)
        dependencies = WorkerDependencies(
            store: store, preparer: preparer, settings: settings, metrics: metrics,
            storeAvailability: StoreAvailability(logger), breakers: DependencyBreakers(logger),
            heldResults: HeldResultStorage(output: preparer.output, bytesMax: settings.heldBytesMax),
            logs: JobLogBuffer(store), tracer: tracer, logger: logger)
    }

    /// Whether the worker claims jobs, according to its last store call and the dependencies of its jobs.
    public var health: WorkerHealth {
        let health = dependencies.storeAvailability.health
        guard health == .ok, !outages.isEmpty else { return health }
        return .unavailable(outages.map(\.sentence).joined(separator: " "))
    }

    /// The dependencies that are away, for which jobs wait.
    public var outages: [DependencyOutage] {
        let outages = dependencies.breakers.outages
        guard case .unavailable(let reason) = dependencies.storeAvailability.health,
            !outages.contains(where: { $0.dependency == .database })
        else { return outages }
        return outages + [DependencyOutage(.database, reason: reason)]
    }

    /// Number of results that are rendered and wait on this machine for a dependency.
    public var heldResultsCount: Int { dependencies.breakers.heldCount }

    /// Processes jobs until `drain`, or until its task is cancelled, which drains with a time limit of zero. Call it
    /// once.
    public func run() async {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        precondition(isFirst, "a worker runs once")
        let changes = feed.changes(backlog: Self.changesMax)
        let heartbeat = HeartbeatThread()
        heartbeat.start(every: dependencies.settings.heartbeat) { [self] in await renewLeases() }
        let listening = Task { for await change in changes { handle(change) } }
        let writing = Task { [dependencies] in
            while !Task.isCancelled {
                try await ContinuousClock().sleep(for: Self.flushInterval)
                await dependencies.logs.flush()
            }
        }
        await withTaskCancellationHandler {
            await processJobs()
            await leave()
        } onCancel: {
            startDraining(by: .now)
        }
        listening.cancel()
        writing.cancel()
        heartbeat.stop()
        try? await uninterrupted { [dependencies] in await dependencies.logs.flush() }
        end()
    }

    /// The number of jobs that it processes.
    public var runningCount: Int { dependencies.activeLeases.count }

    /// Whether it shuts down and claims no more jobs.
    public var isDraining: Bool { drainDeadline != nil }

    /// Changes the maximum number of jobs that fetch from the same host, for the next claims.
    public func change(hostLimit limit: Int) { hostLimit.store(limit, ordering: .relaxed) }

    /// Stops claiming, waits up to `limit` for running jobs, returns the rest to the queue, and returns when `run` is
    /// about to return. May be called again with an earlier limit.
    public func drain(within limit: Duration) async {
        startDraining(by: .now + limit)
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.hasBegun, !state.isOver else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Buffered changes; losing the oldest is harmless, because any change wakes the worker.
    private static let changesMax = 256
    /// Interval at which buffered log lines are stored.
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

/// Claiming jobs.
extension JobWorker {
    var drainDeadline: ContinuousClock.Instant? { state.withLock { $0.drainDeadline } }

    func processJobs() async {
        var failures = 0
        while drainDeadline == nil {
            var pause = dependencies.settings.poll
            do {
                if try await !claim() { pause = min(pause, try await untilNextDue()) }
                try await claimOverdue()
                failures = 0
                dependencies.storeAvailability.answered()
            } catch {
                dependencies.storeAvailability.failed(error)
                failures += 1
                pause = .seconds(min(Self.backOffSeconds * Double(1 << min(failures, 10)), Self.backOffSecondsMax))
            }
            probe()
            await wakeSignal.wait(atMost: pause)
            await gatherEnds()
        }
    }

    /// While nearly all capacity is in use, waits for further jobs to end: a claim of several costs as much as of one.
    private func gatherEnds() async {
        let concurrency = dependencies.settings.concurrency
        guard dependencies.activeLeases.count > concurrency - concurrency / 4 - 1, drainDeadline == nil else { return }
        try? await ContinuousClock().sleep(for: Self.gatherInterval)
    }

    /// Short beside the work of the jobs that go on meanwhile.
    private static let gatherInterval = Duration.milliseconds(5)

    /// Checks a dependency that is away, if it is time, without holding up the loop.
    private func probe() {
        guard let dependency = dependencies.breakers.beginProbe() else { return }
        Task { [dependencies, wakeSignal] in
            do {
                try await dependencies.preparer.probe(dependency)
                dependencies.breakers.recordSuccess(dependency)
                wakeSignal.signal()
            } catch {
                let reason = (error as? AttachPrepError)?.message ?? "\(error)"
                dependencies.breakers.recordFailure(dependency, reason, isTrial: true)
            }
        }
    }

    /// Ends jobs whose time is over, a few times a minute: also while nothing is claimed.
    private func claimOverdue() async throws {
        let isDue = state.withLock { state in
            guard state.nextOverdueAt <= .now, state.drainDeadline == nil else { return false }
            state.nextOverdueAt = .now + Self.overdueInterval
            return true
        }
        guard isDue else { return }
        try await dependencies.heldResults.sweep(dependencies.store, except: dependencies.activeLeases)
        let settings = dependencies.settings
        let jobs = try await dependencies.store.claimOverdue(
            Self.overdueCountMax, by: settings.name, lease: settings.lease, waitSecondsMax: settings.retentionSeconds)
        jobs.forEach(begin)
        // The rest of many follows at once.
        if jobs.count == Self.overdueCountMax { state.withLock { $0.nextOverdueAt = .now } }
    }

    private static let overdueInterval = Duration.seconds(5)
    private static let overdueCountMax = 100

    /// Retry delays for a store that is unavailable: 0.1 s, doubled each time, at most 5 s.
    private static let (backOffSeconds, backOffSecondsMax) = (0.1, 5.0)

    /// Claims jobs for the free capacity.
    ///
    /// - Returns: Whether all capacity is in use.
    private func claim() async throws -> Bool {
        let (settings, store) = (dependencies.settings, dependencies.store)
        let capacity = capacity(of: settings.concurrency)
        guard capacity > 0 else { return true }
        await renewIfLate()
        let jobs = try await store.claim(
            capacity, by: settings.name, lease: settings.lease, hostLimit: hostLimit.load(ordering: .relaxed))
        // Draining started during the claim: return the jobs.
        if drainDeadline != nil { try await release(jobs.map(\.lease)) } else { jobs.forEach(begin) }
        return jobs.count == capacity
    }

    /// The number of jobs to claim.
    private func capacity(of concurrency: Int) -> Int {
        let active = dependencies.activeLeases.count
        return switch dependencies.breakers.allowance() {
        case .all: concurrency.subtracting(clamping: active)
        case .another: min(1, concurrency.subtracting(clamping: active))
        case .one: active == 0 ? 1 : 0
        case .none: 0
        }
    }

    private func begin(_ job: ClaimedJob) {
        dependencies.activeLeases.begin(job.lease) { [dependencies, wakeSignal] in
            await JobRun(job, dependencies).run()
            dependencies.activeLeases.end(job.lease)
            wakeSignal.signal()
        }
    }

    private func untilNextDue() async throws -> Duration {
        guard let date = try await dependencies.store.nextDue() else { return dependencies.settings.poll }
        return .seconds(clamping: max(0, date.timeIntervalSinceNow))
    }
}

/// Renewing leases, and stopping work whose lease is lost or whose job was cancelled.
extension JobWorker {
    /// Renews all leases in one call, and stops work whose lease is lost or whose job was cancelled.
    func renewLeases() async {
        dependencies.metrics.record(dependencies.preparer.statistics)
        let leases = dependencies.activeLeases.leases
        guard !leases.isEmpty else { return }
        do {
            let statuses = try await dependencies.store.extend(leases, by: dependencies.settings.lease)
            for lease in leases {
                switch statuses[lease.job] {
                case .held: break
                case .cancelled: dependencies.activeLeases.stop(lease, .cancelled)
                case .lost, nil: dependencies.activeLeases.stop(lease, .lost)
                }
            }
            state.withLock { $0.lastRenewedAt = .now }
            dependencies.storeAvailability.answered()
        } catch {
            dependencies.storeAvailability.failed(error)
        }
    }

    /// Renews leases that are past half their duration before a claim reclaims expired ones: a process or disk that was
    /// suspended must not lose its jobs to itself.
    func renewIfLate() async {
        let lastRenewedAt = state.withLock { $0.lastRenewedAt }
        guard dependencies.activeLeases.count > 0, lastRenewedAt + dependencies.settings.lease / 2 < .now else {
            return
        }
        await renewLeases()
    }

    func handle(_ change: JobFeed.Change) {
        switch change.state {
        case .queued: wakeSignal.signal()
        // The job was claimed or cancelled; renewing its lease shows which.
        case .running where dependencies.activeLeases.contains(change.job): renewSoon()
        default: break
        }
    }

    /// Schedules one renewal for all changes within `renewalDelay`.
    private func renewSoon() {
        let isFirst = state.withLock { state in
            defer { state.isRenewalScheduled = true }
            return !state.isRenewalScheduled
        }
        guard isFirst else { return }
        Task {
            try await ContinuousClock().sleep(for: Self.renewalDelay)
            state.withLock { $0.isRenewalScheduled = false }
            await renewLeases()
        }
    }

    /// Short enough for cancellation, and long enough to combine a hundred changes into one renewal.
    private static let renewalDelay = Duration.milliseconds(200)
}

/// Shutting down: waiting for running jobs and returning the rest.
extension JobWorker {
    func startDraining(by instant: ContinuousClock.Instant) {
        state.withLock { $0.drainDeadline = $0.drainDeadline.map { min($0, instant) } ?? instant }
        dependencies.storeAvailability.leave()
        dependencies.breakers.close()
        wakeSignal.signal()
    }

    func leave() async {
        await waitUntilIdle { [self] in drainDeadline ?? .now }
        let leases = dependencies.activeLeases.leases
        guard !leases.isEmpty else { return }
        dependencies.logger.notice("returning jobs to the queue", metadata: ["count": .stringConvertible(leases.count)])
        for lease in leases { dependencies.activeLeases.stop(lease, .returned) }
        let limit = ContinuousClock.now + Self.interruptionMax
        await returnToQueue(leases, until: limit)
        await waitUntilIdle { limit }
    }

    /// Tries again while the store is unavailable, because a job that is not returned counts a loss at the next start.
    /// Jobs that have ended meanwhile have no lease and are not affected.
    private func returnToQueue(_ leases: [JobLease], until limit: ContinuousClock.Instant) async {
        repeat {
            do {
                return try await release(leases)
            } catch {
                dependencies.storeAvailability.failed(error)
                try? await uninterrupted { try await ContinuousClock().sleep(for: .seconds(Self.backOffSeconds)) }
            }
        } while ContinuousClock.now < limit
    }

    /// Cancelled work ends at once, except while it copies a large file; its remains are removed at the next start.
    private static let interruptionMax = Duration.seconds(3)

    private func waitUntilIdle(_ limit: () -> ContinuousClock.Instant) async {
        while dependencies.activeLeases.count > 0 {
            let left = ContinuousClock.now.duration(to: limit())
            guard left > .zero else { return }
            await wakeSignal.wait(atMost: left)
        }
    }

    func release(_ leases: [JobLease]) async throws {
        guard !leases.isEmpty else { return }
        try await uninterrupted { [dependencies] in try await dependencies.store.release(leases) }
    }
}

struct WorkerDependencies: Sendable {
    let store: any JobStore
    let preparer: any JobPreparing
    let settings: WorkerSettings
    let metrics: JobMetrics
    let storeAvailability: StoreAvailability
    let activeLeases = ActiveLeases()
    let breakers: DependencyBreakers
    let heldResults: HeldResultStorage
    let logs: JobLogBuffer
    let tracer: (any Tracer)?
    let logger: Logger
}

/// Runs `body` in a new task, so that it completes although the current task is cancelled: stores check for
/// cancellation, and a cancelled job must still be finished in the store.
func uninterrupted<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
    try await Task { try await body() }.value
}
