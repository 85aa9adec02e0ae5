import AttachPrepModel
import FoundationEssentials
import Linux
public import MediaEngine
import MediaTypes
import SafeArithmetic
import Synchronization

/// A media engine that works in media processes: one per media slot for renders, and one more for queries.
///
/// Processes start with their first call and stay warm. A process that crashes or exceeds its deadline fails only its
/// own call, and the next one starts at once. A process is replaced after a number of calls, at an age, and above a
/// memory mark, if possible while no call is waiting.
public final class MediaProcessPool: MediaEngine {
    private let workers: [MediaWorker]
    private let statistics = MediaProcessStatistics()
    private let state: Mutex<State>

    private struct State {
        var schedule: SlotSchedule
        let start = ContinuousClock.now
        var lastNumber = 0
        var waiting: [Int: CheckedContinuation<Int?, Never>] = [:]
        /// Numbers of callers that have not yet entered the queue; a caller whose number is missing was cancelled.
        var expected: Set<Int> = []

        /// Seconds since the pool was created.
        var seconds: Double { start.duration(to: .now) / .seconds(1) }
    }

    /// Creates a pool of processes of that executable; at most `mediaSlots` of them render at a time.
    ///
    /// - Parameters:
    ///   - executable: The path of `attachprep-media`.
    ///   - mediaSlots: The number of concurrent renders.
    ///   - requiresSandbox: Whether calls throw `sandbox.unavailable` when a process cannot be sandboxed fully.
    ///   - niceness: Nice value of the media processes, relative to this process's: 0 to 19.
    /// - Throws: `internal` when no thread can be started.
    public init(executable: String, mediaSlots: Int, requiresSandbox: Bool = false, niceness: Int = 0) throws {
        precondition(mediaSlots >= 1, "a pool needs at least one media slot")
        do {
            let program = MediaProcessConfiguration(
                executable: executable, requiresSandbox: requiresSandbox, niceness: niceness)
            workers = try (0...mediaSlots).map { [statistics] in
                try MediaWorker(program, number: $0, statistics: statistics)
            }
        } catch {
            throw AttachPrepError(.internal, "No thread could be started for media work.", detail: "\(error)")
        }
        state = Mutex(State(schedule: SlotSchedule(mediaSlots: mediaSlots)))
    }

    deinit {
        for worker in workers { worker.abandon() }
    }

    /// How often media processes were replaced, by cause.
    public var replacements: MediaProcessReplacements { statistics.replacements }

    /// How often media processes failed, by cause.
    public var failures: [MediaProcessFailure: Int] { statistics.failures }

    /// The resources that the media processes use.
    public var usage: MediaProcessUsage { statistics.usage }

    /// Starts the processes that this many concurrent requests need, so that their libraries load in the background.
    public func warmUp(requests: Int = 1) {
        for worker in workers.prefix(requests) { worker.warmUp() }
    }

    /// Ends all processes after their current calls and returns when they are gone; no call may follow.
    public func shutdown() async {
        await withTaskGroup { group in
            for worker in workers { group.addTask { await worker.stop() } }
        }
    }

    public func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws
        -> MediaAnswer
    {
        try await sharing(MediaShare()).perform(call, descriptors: descriptors, deadline: deadline)
    }

    public func withSlot<Result: Sendable>(
        _ kind: MediaWorkKind, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        try await withSlot(kind, for: MediaShare(), body)
    }

    public func withFreeSlot<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        try await withFreeSlot(for: MediaShare(), body)
    }

    public func sharing(_ share: MediaShare) -> any MediaEngine { SharedMediaPool(pool: self, share: share) }

    fileprivate func withSlot<Result: Sendable>(
        _ kind: MediaWorkKind, for share: MediaShare, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        guard let worker = await acquire(isRender: kind == .render, for: share) else { throw AttachPrepError.cancelled }
        defer { release(worker, isRender: kind == .render) }
        return try await body(ReservedMediaWorker(worker: workers[worker]))
    }

    fileprivate func withFreeSlot<Result: Sendable>(
        for share: MediaShare, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        guard let worker = state.withLock({ $0.schedule.acquireIfFree(for: share, at: $0.seconds) }) else { return nil }
        defer { release(worker, isRender: true) }
        return try await body(ReservedMediaWorker(worker: workers[worker]))
    }

    /// Waits for a worker and returns its index; nil when the task was cancelled.
    private func acquire(isRender: Bool, for share: MediaShare) async -> Int? {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.expected.insert(state.lastNumber)
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(SlotSchedule.Waiter(number: number, isRender: isRender, share: share), continuation: continuation)
            }
        } onCancel: {
            abandon(number)
        }
    }

    private func enter(_ waiter: SlotSchedule.Waiter, continuation: CheckedContinuation<Int?, Never>) {
        let isCancelled = state.withLock { state in
            guard state.expected.remove(waiter.number) != nil else { return true }
            state.waiting[waiter.number] = continuation
            Self.resume(state.schedule.enter(waiter, at: state.seconds), in: &state)
            return false
        }
        if isCancelled { continuation.resume(returning: nil) }
    }

    private func abandon(_ number: Int) {
        state.withLock { state in
            state.expected.remove(number)
            if state.schedule.leave(number) { state.waiting.removeValue(forKey: number)?.resume(returning: nil) }
        }
    }

    private func release(_ worker: Int, isRender: Bool) {
        state.withLock { state in
            let grants = state.schedule.release(
                worker: worker, isRender: isRender, isWarm: workers[worker].isWarm, at: state.seconds)
            Self.resume(grants, in: &state)
        }
    }

    private static func resume(_ grants: [SlotSchedule.Grant], in state: inout sending State) {
        for grant in grants { state.waiting.removeValue(forKey: grant.waiter)?.resume(returning: grant.worker) }
    }
}

/// The pool as the calls of one share see it.
private struct SharedMediaPool: MediaEngine {
    let pool: MediaProcessPool
    let share: MediaShare

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        let isRender = if case .render = call { true } else { false }
        return try await withSlot(isRender ? .render : .query) { slot in
            try await slot.perform(call, descriptors: descriptors, deadline: deadline)
        }
    }

    func withSlot<Result: Sendable>(
        _ kind: MediaWorkKind, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        try await pool.withSlot(kind, for: share, body)
    }

    func withFreeSlot<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        try await pool.withFreeSlot(for: share, body)
    }

    func sharing(_ share: MediaShare) -> any MediaEngine { pool.sharing(share) }
}

/// A worker reserved for one request.
struct ReservedMediaWorker: MediaEngine {
    let worker: MediaWorker

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        try await worker.perform(PendingMediaCall(call: call, descriptors: descriptors, deadline: deadline))
    }
}

/// A permanent thread with one media process, which it starts, sends calls to, kills at a deadline and replaces.
///
/// The thread is permanent because the kernel kills the process when the thread that spawned it ends.
final class MediaWorker: Sendable {
    private enum Item {
        case pendingCall(PendingMediaCall, CheckedContinuation<MediaAnswer, any Error>)
        case warmUp
        case stop(CheckedContinuation<Void, Never>?)
    }

    private let items: BlockingQueue<Item>
    /// Set before the stop item is queued, so that a process that ends meanwhile is not replaced.
    private let isStopping = AtomicFlag()
    private let warmFlag = AtomicFlag()

    /// Starts the thread; the process starts with the first call or with `warmUp`.
    init(_ program: MediaProcessConfiguration, number: Int, statistics: MediaProcessStatistics) throws {
        let items = try BlockingQueue<Item>()
        self.items = items
        try DedicatedThread.start(name: "media-\(number)") { [isStopping, warmFlag] in
            let channel = MediaProcessChannel(program, statistics: statistics)
            Self.run(items: items, channel: channel, isStopping: isStopping, isWarm: warmFlag)
        }
    }

    /// Whether the process was ready for another call after the last one.
    var isWarm: Bool { warmFlag.isSet }

    /// Starts the process, so that its libraries load in the background.
    func warmUp() {
        items.push(.warmUp)
    }

    /// Ends the process and the thread after the current call.
    func stop() async {
        isStopping.set(true)
        await withCheckedContinuation { items.push(.stop($0)) }
    }

    /// The same without waiting for the end.
    func abandon() {
        isStopping.set(true)
        items.push(.stop(nil))
    }

    /// Performs one call in the process; the pool gives a worker one call at a time.
    func perform(_ pendingCall: PendingMediaCall) async throws -> MediaAnswer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                items.push(.pendingCall(pendingCall, continuation))
            }
        } onCancel: {
            pendingCall.cancel()
        }
    }

    private static func run(
        items: BlockingQueue<Item>, channel: MediaProcessChannel, isStopping: AtomicFlag, isWarm: AtomicFlag
    ) {
        while true {
            guard let item = items.pop(unlessReadable: channel.descriptors) else {
                channel.handlePendingEvents()
                continue
            }
            switch item {
            case .pendingCall(let pendingCall, let continuation):
                let result = Result { try channel.perform(pendingCall) }
                isWarm.set(channel.isWarm)
                continuation.resume(with: result)
                if !isStopping.isSet { channel.prepareNext() }
            case .warmUp: channel.warmUp()
            case .stop(let continuation):
                channel.stop()
                continuation?.resume()
                return
            }
        }
    }
}

/// A Boolean that one thread sets and others read.
private final class AtomicFlag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set(_ isSet: Bool) {
        state.store(isSet, ordering: .relaxed)
    }
}

/// The default number of concurrent renders: the number of cores this process may use.
public enum MediaSlots {
    /// The smaller of the scheduler's core count and the control group's CPU quota, at least 1.
    ///
    /// Linux: control groups v2, `cpu.max`; v1, `cpu.cfs_quota_us` over `cpu.cfs_period_us`.
    public static var machineDefault: Int {
        let quota = (text("cpu.max") ?? legacyQuota).flatMap(cores(quota:))
        return max(1, min(ProcessInfo.processInfo.activeProcessorCount, quota ?? .max))
    }

    /// Control groups v1 keep in two files what v2 writes on one line.
    private static var legacyQuota: String? {
        guard let quota = text("cpu/cpu.cfs_quota_us"), let period = text("cpu/cpu.cfs_period_us") else { return nil }
        return "\(quota) \(period)"
    }

    private static func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "/sys/fs/cgroup/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Parses a quota: `200000 100000` is two cores; `max 100000`, and v1's `-1 100000`, are no quota. Pure.
    package static func cores(quota: String) -> Int? {
        let numbers = quota.split(whereSeparator: \.isWhitespace).map { Double($0) }
        guard numbers.count == 2, let allowed = numbers[0], let period = numbers[1], allowed > 0, period > 0 else {
            return nil
        }
        return max(1, Int(clamping: (allowed / period).rounded()))
    }
}
