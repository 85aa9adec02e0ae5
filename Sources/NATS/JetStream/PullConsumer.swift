internal import Dispatch
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A consumer that gives messages when it is asked for them. One pull at a time.
package final class PullConsumer: Sendable {
    private struct State {
        var number = 0
        var pull: Pull?
        /// Messages that the pull may still bring: nobody says that it has brought all.
        var left = 0
        var subscription: NATSSubscription?
        var stopListening: (@Sendable () -> Void)?
    }

    private let stream: JetStream
    private let subject: String
    private let inbox = InboxName.make()
    private let state = Mutex(State())

    init(_ stream: JetStream, stream name: String, name consumer: String) async throws {
        self.stream = stream
        subject = "$JS.API.CONSUMER.MSG.NEXT.\(name).\(consumer)"
        let subscription = try await stream.connection.subscribe(to: "\(inbox).*") { [weak self] in self?.hear($0) }
        let stop = stream.connection.listen(onLoss: { [weak self] in
            self?.end(throwing: NATSError.disconnected)
        })
        state.withLock { state in
            state.subscription = subscription
            state.stopListening = stop
        }
    }

    deinit {
        state.withLock { $0.stopListening }?()
    }

    private struct Wish: Encodable {
        var batch: Int
        var no_wait: Bool?
        var expires: Int64?
    }

    /// What there is now, at most `count`.
    package func take(_ count: Int) async throws -> [Delivery] {
        guard count > 0 else { return [] }
        let pull = begin(Wish(batch: count, no_wait: true), within: stream.connection.answerTime)
        var deliveries: [Delivery] = []
        do {
            // Bounded: lists, not numbers.
            while deliveries.count < count, let more = try await pull.next() { deliveries += more }
        } catch  where !deliveries.isEmpty {
            // They are ours, whatever has become of the rest.
        }
        return deliveries
    }

    /// Messages as they come, at most `count`, for so long.
    package func pull(_ count: Int, for time: Duration) -> Pull {
        // Bounded: spans of our own settings and limits.
        begin(Wish(batch: count, expires: time.nanoseconds), within: time + stream.connection.answerTime)
    }

    private func begin(_ wish: Wish, within time: Duration) -> Pull {
        let pull = Pull()
        let (number, former) = state.withLock { state in
            defer { state.pull = pull }
            state.left = wish.batch
            state.number += 1
            return (state.number, state.pull)
        }
        for delivery in former?.abandon() ?? [] { stream.tell(delivery.reply, .later(.zero)) }
        guard let body = try? JSONEncoder().encode(wish) else { preconditionFailure("numbers can be encoded") }
        stream.connection.publish(OutgoingMessage(subject, Array(body)), replyTo: "\(inbox).\(number)")
        // Nothing may have come of it: it was not sent, or its end was not heard.
        // Bounded: floating-point numbers.
        DispatchQueue.global().asyncAfter(deadline: .now() + time / .seconds(1)) { [weak self, subject] in
            self?.end(number, throwing: NATSError.timedOut(subject: subject))
        }
        return pull
    }

    private func hear(_ message: NATSMessage) {
        if let delivery = Delivery(message) {
            let (pull, over) = state.withLock { state in
                state.left -= 1
                return (state.pull, state.left <= 0 ? state.number : nil)
            }
            let isHeard = pull?.hear(delivery) ?? false
            // Of a pull that was given up: somebody else may have it.
            if !isHeard { stream.tell(delivery.reply, .later(.zero)) }
            if let over { end(over) }
            return
        }
        guard message.subject == "\(inbox).\(state.withLock { $0.number })" else { return }
        switch message.status {
        // Nothing there, or nothing more in time.
        case 404, 408: end()
        case 100, nil: break
        case 503: end(throwing: NATSError.noResponders(subject: subject))
        case let status?:
            end(
                throwing: NATSError.refused(
                    code: status, number: 0, text: "the pull was ended", operation: JetStream.operation(subject)))
        }
    }

    /// - Parameter number: the pull that is meant; nil for the one under way.
    private func end(_ number: Int? = nil, throwing error: (any Error)? = nil) {
        let pull = state.withLock { state -> Pull? in
            guard number ?? state.number == state.number else { return nil }
            defer { state.pull = nil }
            return state.pull
        }
        pull?.end(throwing: error)
    }
}
