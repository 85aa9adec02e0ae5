public import MediaEngine
import RichPush
import Synchronization

/// The engine in processes of their own: as many rendering children as media slots, and one more for quick questions.
///
/// Children start with their first call and stay warm; a child that crashes or overruns its deadline costs its own call
/// alone, and the next one starts at once. A child is replaced after a number of calls, with age, and above a mark of
/// memory, as far as possible while nobody waits for it.
public final class MediaPool: MediaEngine {
    private let workers: [MediaWorker]
    private let counter = ReplacementCounter()
    private let state: Mutex<State>

    private struct State {
        var schedule: SlotSchedule
        var lastNumber = 0
        var waiting: [Int: CheckedContinuation<Int?, Never>] = [:]
        /// On their way into line; a number that is gone from here when it arrives was cancelled.
        var expected: Set<Int> = []
    }

    /// A pool whose children run that executable; at most `mediaSlots` of them render at a time.
    ///
    /// - Parameters:
    ///   - requiresSandbox: Whether a call ends as `sandbox.unavailable` where a child cannot be locked down.
    ///   - niceness: 0 to 19: how far children stand behind this process in line for the processor.
    /// - Throws: `internal` when the machine has no thread left.
    public init(executable: String, mediaSlots: Int, requiresSandbox: Bool = false, niceness: Int = 0) throws {
        precondition(mediaSlots >= 1, "a pool renders in at least one slot")
        do {
            let program = MediaProgram(executable: executable, requiresSandbox: requiresSandbox, niceness: niceness)
            workers = try (0...mediaSlots).map { [counter] in
                try MediaWorker(program, number: $0, counter: counter)
            }
        } catch {
            throw AttachPrepError(.internal, "No thread could be started for media work.", detail: "\(error)")
        }
        state = Mutex(State(schedule: SlotSchedule(mediaSlots: mediaSlots)))
    }

    deinit {
        for worker in workers { worker.abandon() }
    }

    /// How often a child took another one's place.
    public var replacements: ChildReplacements { counter.replacements }

    /// Starts the children that so many requests will want, so that their libraries load while something else goes on.
    public func warmUp(requests: Int = 1) {
        for worker in workers.prefix(requests) { worker.warmUp() }
    }

    /// Ends all children once their calls are done, and returns when they are gone; no call may follow.
    public func shutdown() async {
        await withTaskGroup { group in
            for worker in workers { group.addTask { await worker.stop() } }
        }
    }

    public func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws
        -> MediaAnswer
    {
        let isRender = if case .render = call { true } else { false }
        return try await inTurn(isRender ? .render : .question) { place in
            try await place.perform(call, descriptors: descriptors, deadline: deadline)
        }
    }

    public func inTurn<Result: Sendable>(
        _ turn: MediaTurn, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        guard let worker = await acquire(isRender: turn == .render) else { throw AttachPrepError.cancelled }
        defer { release(worker, isRender: turn == .render) }
        return try await body(MediaPlace(worker: workers[worker]))
    }

    public func inTurnIfFree<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        guard let worker = state.withLock({ $0.schedule.takeIfFree() }) else { return nil }
        defer { release(worker, isRender: true) }
        return try await body(MediaPlace(worker: workers[worker]))
    }

    /// Waits for a worker; nil when the task was cancelled meanwhile.
    private func acquire(isRender: Bool) async -> Int? {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.expected.insert(state.lastNumber)
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(SlotSchedule.Waiter(number: number, isRender: isRender), continuation)
            }
        } onCancel: {
            abandon(number)
        }
    }

    private func enter(_ waiter: SlotSchedule.Waiter, _ continuation: CheckedContinuation<Int?, Never>) {
        let isCancelled = state.withLock { state in
            guard state.expected.remove(waiter.number) != nil else { return true }
            state.waiting[waiter.number] = continuation
            Self.hand(state.schedule.enter(waiter), &state)
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
            let grants = state.schedule.release(worker: worker, isRender: isRender, isWarm: workers[worker].isWarm)
            Self.hand(grants, &state)
        }
    }

    private static func hand(_ grants: [SlotSchedule.Grant], _ state: inout sending State) {
        for grant in grants { state.waiting.removeValue(forKey: grant.waiter)?.resume(returning: grant.worker) }
    }
}
