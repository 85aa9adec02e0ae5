internal import Synchronization

/// Answers to several requests, as they come, until the last is there.
final class GatheredAnswers: Sendable {
    private struct State {
        var answers: [Result<NATSMessage, any Error>?]
        var missing: Int
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(answers: Array(repeating: nil, count: count), missing: count))
    }

    /// - Returns: all of them, with the last one.
    func add(_ answer: Result<NATSMessage, any Error>, at index: Int) -> [Result<NATSMessage, any Error>]? {
        state.withLock { state in
            state.answers[index] = answer
            state.missing -= 1
            return state.missing == 0 ? state.answers.compactMap(\.self) : nil
        }
    }
}
