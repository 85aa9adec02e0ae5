internal import Dispatch
internal import FoundationEssentials
internal import Synchronization

/// A consumer that delivers messages on request. Only one pull is active at a time: a new one ends the former.
package final class PullConsumer: Sendable {
    private struct State {
        var number = 0
        var pull: PullRequest?
        /// The number of messages that the pull may still deliver. Counted here, because the server does not report
        /// that a pull is complete.
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
        let subscription = try await stream.connection.subscribe(to: "\(inbox).*") { [weak self] in self?.receive($0) }
        let stop = stream.connection.listen(onDisconnect: { [weak self] in
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

    private struct PullRequestBody: Encodable {
        var batch: Int
        var no_wait: Bool?
        var expires: Int64?
    }

    /// The messages available now, at most `count`.
    package func fetch(_ count: Int) async throws -> [Delivery] {
        guard count > 0 else { return [] }
        let pull = begin(PullRequestBody(batch: count, no_wait: true), within: stream.connection.requestTimeout)
        var deliveries: [Delivery] = []
        do {
            while deliveries.count < count, let more = try await pull.next() { deliveries += more }
        } catch  where !deliveries.isEmpty {
            // The messages received so far are delivered in spite of the error.
        }
        return deliveries
    }

    /// Delivers messages as they arrive, at most `count`, until `time` has passed.
    package func pull(_ count: Int, for time: Duration) -> PullRequest {
        begin(PullRequestBody(batch: count, expires: time.nanoseconds), within: time + stream.connection.requestTimeout)
    }

    private func begin(_ request: PullRequestBody, within time: Duration) -> PullRequest {
        let pull = PullRequest()
        let (number, former) = state.withLock { state in
            defer { state.pull = pull }
            state.left = request.batch
            state.number += 1
            return (state.number, state.pull)
        }
        for delivery in former?.abandon() ?? [] { stream.acknowledge(delivery.reply, .later(.zero)) }
        guard let body = try? JSONEncoder().encode(request) else { preconditionFailure("numbers can be encoded") }
        stream.connection.publish(OutgoingMessage(subject, Array(body)), replyTo: "\(inbox).\(number)")
        // The request or the message that ends the pull may have been lost.
        DispatchQueue.global().asyncAfter(deadline: .now() + time / .seconds(1)) { [weak self, subject] in
            self?.end(number, throwing: NATSError.timedOut(subject: subject))
        }
        return pull
    }

    private func receive(_ message: NATSMessage) {
        if let delivery = Delivery(message) {
            let (pull, over) = state.withLock { state in
                state.left -= 1
                return (state.pull, state.left <= 0 ? state.number : nil)
            }
            let isAccepted = pull?.receive(delivery) ?? false
            // The pull was abandoned: release the message for other consumers.
            if !isAccepted { stream.acknowledge(delivery.reply, .later(.zero)) }
            if let over { end(over) }
            return
        }
        guard message.subject == "\(inbox).\(state.withLock { $0.number })" else { return }
        switch message.status {
        // No messages, or the time of the pull has passed.
        case 404, 408: end()
        case 100, nil: break
        case 503: end(throwing: NATSError.noResponders(subject: subject))
        case let status?:
            end(
                throwing: NATSError.apiError(
                    code: status, errorCode: 0, text: "server ended the pull", operation: JetStream.operation(subject)))
        }
    }

    /// Ends a pull, unless a later one has begun.
    ///
    /// - Parameter number: the number of the pull; nil for the active one.
    private func end(_ number: Int? = nil, throwing error: (any Error)? = nil) {
        let pull = state.withLock { state -> PullRequest? in
            guard number ?? state.number == state.number else { return nil }
            defer { state.pull = nil }
            return state.pull
        }
        pull?.end(throwing: error)
    }
}

/// The incoming messages of one pull, for one reader.
package final class PullRequest: Sendable {
    private struct State {
        var buffer: [Delivery] = []
        var isOver = false
        var error: (any Error)?
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Waits for messages.
    ///
    /// - Returns: All messages that have arrived since the last call, at least one; nil at the end of the pull.
    /// - Throws: The error that ended the pull, `CancellationError`.
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
                precondition(state.reader == nil, "a pull has one reader")
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

    /// Adds a message for the reader.
    ///
    /// - Returns: False when the pull has ended and the message will not be read.
    func receive(_ delivery: Delivery) -> Bool {
        let isAccepted = state.withLock { state in
            if !state.isOver { state.buffer.append(delivery) }
            return !state.isOver
        }
        wake()
        return isAccepted
    }

    /// Ends the pull. Messages that arrived before are still read.
    func end(throwing error: (any Error)? = nil) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            state.error = error
        }
        wake()
    }

    /// Ends the pull and returns the unread messages.
    func abandon() -> [Delivery] {
        state.withLock { state in
            defer { state.buffer = [] }
            state.isOver = true
            return state.buffer
        }
    }
}
