internal import Synchronization

/// Where answers come in: one subscription for all of them, and who waits for which.
final class ReplyInbox: Sendable {
    /// Called exactly once, on any thread.
    typealias Hear = @Sendable (Result<NATSMessage, any Error>) -> Void

    private struct Waiter {
        var hear: Hear
        var subject: String
        var limit: ContinuousClock.Instant
    }

    private struct State {
        var last: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var isClosed = false
    }

    /// Ends with a dot; what comes after it names the waiter.
    let prefix = InboxName.make() + "."
    private let state = Mutex(State())

    /// The subject on which one waits for an answer of that other one; nil when the inbox is closed: the waiter has
    /// heard of it.
    func expect(_ subject: String, within time: Duration, _ hear: @escaping Hear) -> String? {
        let token = state.withLock { state -> UInt64? in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.waiters[state.last] = Waiter(hear: hear, subject: subject, limit: .now + time)
            return state.last
        }
        guard let token else {
            hear(.failure(NATSError.disconnected))
            return nil
        }
        return prefix + String(token, radix: 36)  // Bounded: texts, not numbers.
    }

    /// Hands an answer to who waits for it; one that comes too late is for nobody.
    func hear(_ message: NATSMessage) {
        take(message.subject)?.hear(.success(message))
    }

    /// Ends the wait of one whose request was not sent.
    func fail(_ reply: String, _ error: NATSError) {
        take(reply)?.hear(.failure(error))
    }

    private func take(_ reply: String) -> Waiter? {
        guard let token = UInt64(reply.dropFirst(prefix.count), radix: 36) else { return nil }
        return state.withLock { $0.waiters.removeValue(forKey: token) }
    }

    /// Ends the waits that have lasted too long.
    ///
    /// - Returns: false when nobody will wait here again.
    func expire(at now: ContinuousClock.Instant) -> Bool {
        let (late, isClosed) = state.withLock { state in
            let tokens = state.waiters.filter { $0.value.limit <= now }.map(\.key)
            return (tokens.compactMap { state.waiters.removeValue(forKey: $0) }, state.isClosed)
        }
        for waiter in late { waiter.hear(.failure(NATSError.timedOut(subject: waiter.subject))) }
        return !isClosed
    }

    /// Ends all waits: what was asked for may have been done.
    func failAll(closing: Bool = false) {
        let all = state.withLock { state in
            defer { state.waiters = [:] }
            state.isClosed = state.isClosed || closing
            return Array(state.waiters.values)
        }
        for waiter in all { waiter.hear(.failure(NATSError.disconnected)) }
    }
}

/// Subjects that nobody else listens to.
enum InboxName {
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return "_INBOX.\(String(generator.next(), radix: 36))\(String(generator.next(), radix: 36))"
    }
}
