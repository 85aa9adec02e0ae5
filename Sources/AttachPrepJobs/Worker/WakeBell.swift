import Synchronization

/// Wakes the one who waits; rung while nobody does, it wakes the next one at once.
final class WakeBell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func ring() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isRung = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns when it rings, or so much later.
    func wait(atMost limit: Duration) async {
        // An alarm that comes late rings for nothing, which costs one look.
        let alarm = Task {
            try await ContinuousClock().sleep(for: limit)
            ring()
        }
        defer { alarm.cancel() }
        await withCheckedContinuation { continuation in
            let isRung = state.withLock { state in
                precondition(state.waiter == nil, "one waits for a bell")
                guard !state.isRung else {
                    state.isRung = false
                    return true
                }
                state.waiter = continuation
                return false
            }
            if isRung { continuation.resume() }
        }
    }
}
