internal import Synchronization

/// Messages that were asked for, as they come. One reader.
package final class Pull: Sendable {
    private struct State {
        var buffer: [Delivery] = []
        var isOver = false
        var error: (any Error)?
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// All that have come since the last call, at least one; nil when no more will come.
    package func next() async throws -> [Delivery]? {
        while true {
            try Task.checkCancellation()
            let found = try state.withLock { state -> [Delivery]? in
                defer { state.buffer = [] }
                if state.buffer.isEmpty, state.isOver {
                    if let error = state.error { throw error }
                    return nil
                }
                return state.buffer
            }
            guard let found else { return nil }
            if !found.isEmpty { return found }
            await withTaskCancellationHandler {
                await wait()
            } onCancel: {
                wake()
            }
        }
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard state.buffer.isEmpty, !state.isOver, !Task.isCancelled else { return false }
                precondition(state.reader == nil, "one reader")
                state.reader = continuation
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }

    private func wake() {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// False when it is over: nobody will read it.
    func hear(_ delivery: Delivery) -> Bool {
        let isHeard = state.withLock { state in
            if !state.isOver { state.buffer.append(delivery) }
            return !state.isOver
        }
        wake()
        return isHeard
    }

    /// What came before is still read.
    func end(throwing error: (any Error)? = nil) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            state.error = error
        }
        wake()
    }

    /// Reads no further, and gives back what was not read.
    func abandon() -> [Delivery] {
        state.withLock { state in
            defer { state.buffer = [] }
            state.isOver = true
            return state.buffer
        }
    }
}
