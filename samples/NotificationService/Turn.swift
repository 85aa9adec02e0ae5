import Foundation

/// Something that waits for its turn: it comes after a while, or earlier when somebody says so.
final class Turn: Sendable {
    private struct State: Sendable {
        var hasCome = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    /// Comes when somebody says so.
    init() {}

    init(after seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.open() }
    }

    func open() {
        let waiting = state.change { state in
            state.hasCome = true
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Returns when the turn has come, or when the task is cancelled.
    func comes() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasCome = state.change { state in
                    if !state.hasCome { state.waiting.append(continuation) }
                    return state.hasCome
                }
                if hasCome { continuation.resume() }
                if Task.isCancelled { open() }
            }
        } onCancel: {
            open()
        }
    }
}
