import Synchronization

/// The answer to a question that many ask at the same time: it is asked once, and again when its answer is old.
final class RecentValue<Value: Sendable>: Sendable {
    private struct State {
        var last = 0
        var answer: Task<Value, any Error>?
        var askedAt = ContinuousClock.now
    }

    private let time: Duration
    private let ask: @Sendable () async throws -> Value
    private let state = Mutex(State())

    /// - Parameter time: how long an answer is good, from when it was asked for.
    init(for time: Duration, _ ask: @escaping @Sendable () async throws -> Value) {
        (self.time, self.ask) = (time, ask)
    }

    /// - Throws: what asking did; the next one asks anew.
    func value(at now: ContinuousClock.Instant = .now) async throws -> Value {
        let (number, answer) = state.withLock { state in
            // Bounded: times of one clock of ours.
            if let answer = state.answer, now - state.askedAt < time { return (state.last, answer) }
            // A task of nobody's: who hangs up does not take the answer away from the others.
            let answer = Task { [ask] in try await ask() }
            state.last += 1
            (state.answer, state.askedAt) = (answer, now)
            return (state.last, answer)
        }
        do {
            return try await answer.value
        } catch {
            state.withLock { if $0.last == number { $0.answer = nil } }
            throw error
        }
    }
}
