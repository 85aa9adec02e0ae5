internal import Synchronization

/// Limits how many transfers run at once; the others wait in the order of their calls.
final class DownloadSlots: Sendable {
    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var free: Int
        var lastID: UInt64 = 0
        var waiters: [Waiter] = []
    }

    /// The deadline passed before a slot was free.
    struct DeadlineReachedError: Error {}

    private let state: Mutex<State>

    init(_ count: Int) {
        precondition(count > 0, "a downloader needs at least one slot")
        state = Mutex(State(free: count))
    }

    /// Runs `body` in a slot.
    ///
    /// - Throws: `DeadlineReachedError` or `CancellationError` while waiting for a slot, and what `body` throws.
    func run<Value>(until deadline: ContinuousClock.Instant, _ body: () async throws -> Value) async throws -> Value {
        try await acquire(until: deadline)
        defer { release() }
        return try await body()
    }

    private func acquire(until deadline: ContinuousClock.Instant) async throws {
        let id = state.withLock { state -> UInt64? in
            state.lastID += 1
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            return state.lastID
        }
        guard let id else { return }
        let alarm = Task {
            try await ContinuousClock().sleep(until: deadline)
            giveUp(id, error: DeadlineReachedError())
        }
        defer { alarm.cancel() }
        try await wait(id, until: deadline)
    }

    private func wait(_ id: UInt64, until deadline: ContinuousClock.Instant) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFree = state.withLock { state in
                    // A slot may have been released since the check in `acquire`.
                    guard state.free == 0 else {
                        state.free -= 1
                        return true
                    }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return false
                }
                if isFree { continuation.resume() }
                // Deadline and cancellation may have fired before the waiter was registered.
                if ContinuousClock.now >= deadline { giveUp(id, error: DeadlineReachedError()) }
                if Task.isCancelled { giveUp(id, error: CancellationError()) }
            }
        } onCancel: {
            giveUp(id, error: CancellationError())
        }
    }

    private func giveUp(_ id: UInt64, error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(throwing: error)
    }

    private func release() {
        let next = state.withLock { state -> Waiter? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.free += 1
            return nil
        }
        next?.continuation.resume()
    }
}
