internal import Synchronization

/// Assigns incoming answers to the requests that wait for them. One subscription serves all requests of a connection.
final class ReplyInbox: Sendable {
    /// Called exactly once, on any thread.
    typealias ReplyHandler = @Sendable (Result<NATSMessage, any Error>) -> Void

    private struct Waiter {
        var receive: ReplyHandler
        var subject: String
        var limit: ContinuousClock.Instant
    }

    private struct State {
        var last: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var isClosed = false
    }

    /// The reply subject up to and including its last dot; the token of the waiter follows.
    let prefix = InboxName.make() + "."
    private let state = Mutex(State())

    /// Registers a waiter for the answer to a request on `subject`.
    ///
    /// - Returns: The reply subject; nil when the inbox is closed: `receive` was called with the error.
    func expect(_ subject: String, within time: Duration, _ receive: @escaping ReplyHandler) -> String? {
        let token = state.withLock { state -> UInt64? in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.waiters[state.last] = Waiter(receive: receive, subject: subject, limit: .now + time)
            return state.last
        }
        guard let token else {
            receive(.failure(NATSError.disconnected))
            return nil
        }
        return prefix + String(token, radix: 36)
    }

    /// Passes an answer to its waiter. An answer after the timeout is dropped.
    func receive(_ message: NATSMessage) {
        removeWaiter(message.subject)?.receive(.success(message))
    }

    /// Fails the waiter whose request was not sent.
    func fail(_ reply: String, _ error: NATSError) {
        removeWaiter(reply)?.receive(.failure(error))
    }

    private func removeWaiter(_ reply: String) -> Waiter? {
        guard let token = UInt64(reply.dropFirst(prefix.count), radix: 36) else { return nil }
        return state.withLock { $0.waiters.removeValue(forKey: token) }
    }

    /// Fails the waiters whose time limit has passed.
    ///
    /// - Returns: False when the inbox is closed.
    func expire(at now: ContinuousClock.Instant) -> Bool {
        let (late, isClosed) = state.withLock { state in
            let tokens = state.waiters.filter { $0.value.limit <= now }.map(\.key)
            return (tokens.compactMap { state.waiters.removeValue(forKey: $0) }, state.isClosed)
        }
        for waiter in late { waiter.receive(.failure(NATSError.timedOut(subject: waiter.subject))) }
        return !isClosed
    }

    /// Fails all waiters with `NATSError.disconnected`. Their requests may have been carried out.
    func failAll(closing: Bool = false) {
        let all = state.withLock { state in
            defer { state.waiters = [:] }
            state.isClosed = state.isClosed || closing
            return Array(state.waiters.values)
        }
        for waiter in all { waiter.receive(.failure(NATSError.disconnected)) }
    }
}

enum InboxName {
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return "_INBOX.\(String(generator.next(), radix: 36))\(String(generator.next(), radix: 36))"
    }
}

/// Collects the answers to several requests until all have arrived.
final class ReplyCollector: Sendable {
    private struct State {
        var answers: [Result<NATSMessage, any Error>?]
        var missing: Int
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(answers: Array(repeating: nil, count: count), missing: count))
    }

    /// Adds an answer.
    ///
    /// - Returns: All answers, in order, once the last one is added; nil before.
    func add(_ answer: Result<NATSMessage, any Error>, at index: Int) -> [Result<NATSMessage, any Error>]? {
        state.withLock { state in
            state.answers[index] = answer
            state.missing -= 1
            return state.missing == 0 ? state.answers.compactMap(\.self) : nil
        }
    }
}
