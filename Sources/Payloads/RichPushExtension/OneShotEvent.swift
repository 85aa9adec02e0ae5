import Foundation
import RichPushReceipts

/// An event that is signaled once, after a delay or by `signal()`, and that tasks can wait for.
final class OneShotEvent: Sendable {
    private struct State: Sendable {
        var isSignaled = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Creates an event that only `signal()` triggers.
    init() {}

    init(after seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.signal() }
    }

    func signal() {
        let waiting = state.change { state in
            state.isSignaled = true
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Returns when the event is signaled; cancelling the task signals it.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSignaled = state.change { state in
                    if !state.isSignaled { state.waiting.append(continuation) }
                    return state.isSignaled
                }
                if isSignaled { continuation.resume() }
                if Task.isCancelled { signal() }
            }
        } onCancel: {
            signal()
        }
    }
}
