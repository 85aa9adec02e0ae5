import RichPush
import Synchronization

/// Waits for the moment at which the mirror has all that was there.
final class FollowerStart: Sendable {
    private enum State {
        case running(CheckedContinuation<Void, any Error>?)
        case over
    }

    private let state = Mutex(State.running(nil))

    func isThere() { end(.success(())) }

    private func end(_ result: Result<Void, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            defer { state = .over }
            if case .running(let waiter) = state { return waiter }
            return nil
        }
        waiter?.resume(with: result)
    }

    /// - Throws: `queue.unavailable` when it takes longer.
    func wait(atMost time: Duration) async throws {
        let alarm = Task {
            try await ContinuousClock().sleep(for: time)
            end(.failure(AttachPrepError(.queueUnavailable, "The NATS servers do not show their jobs; try again.")))
        }
        defer { alarm.cancel() }
        try await withCheckedThrowingContinuation { continuation in
            let isOver = state.withLock { state in
                if case .over = state { return true }
                state = .running(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
