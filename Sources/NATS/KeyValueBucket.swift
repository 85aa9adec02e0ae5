internal import FoundationEssentials
internal import SafeArithmetic

/// A key-value bucket on the servers. Changes can be conditional on the revision that they replace.
///
/// The layout is that of the NATS tools: the stream `KV_<name>`, a subject `$KV.<name>.<key>` for each key.
package struct KeyValueBucket: Sendable {
    package let name: String
    let stream: JetStream

    /// Opens a bucket, creating it if it does not exist.
    ///
    /// - Throws: `NATSError`, `StreamMismatchError`.
    package static func open(_ configuration: BucketConfiguration, in stream: JetStream) async throws -> KeyValueBucket
    {
        try await stream.ensure(configuration.stream)
        return KeyValueBucket(name: configuration.name, stream: stream)
    }

    private func subject(_ key: String) -> String { "$KV.\(name).\(key)" }

    package var streamName: String { "KV_\(name)" }

    /// The key in the subject of one of the bucket's messages.
    func key(of subject: String) -> String { String(subject.dropFirst(name.utf8.count + 5)) }

    // MARK: Changes

    package struct Change: Sendable {
        package var key: String
        /// The new value; nil removes the key.
        package var value: [UInt8]?
        /// The revision that the key must have now, 0 if it must not exist; nil accepts any.
        package var expected: UInt64?

        package init(_ key: String, _ value: [UInt8]?, after expected: UInt64? = nil) {
            self.key = key
            self.value = value
            self.expected = expected
        }
    }

    /// Makes a change; returns when the servers have stored it.
    ///
    /// - Returns: The key's new revision; nil when its revision was not the expected one.
    package func make(_ change: Change) async throws -> UInt64? {
        try await stream.publish(message(change))
    }

    /// Makes changes in order, without waiting between them. Results are those of `make(_:)`.
    package func makeAll(_ changes: [Change]) async -> [Result<UInt64?, any Error>] {
        await stream.publishAll(changes.map(message))
    }

    /// The message that makes a change, to be published with others. Its sequence number is the key's new revision.
    ///
    /// A removal is a `DEL` marker, which replaces the value because one message per key is kept. It is not a `PURGE`
    /// marker, which rolls up the subject: nats-server 2.9.10 moves every consumer of the bucket to the sequence number
    /// that was rolled up or purged, and earlier messages that were not delivered yet are lost (nats-server#3838).
    package func message(_ change: Change) -> OutgoingMessage {
        let headers = change.value == nil ? [("KV-Operation", "DEL")] : []
        return OutgoingMessage(subject(change.key), change.value ?? [], headers: headers).after(change.expected)
    }

    /// Removes one revision if it still exists, without a marker: watchers of the bucket do not receive the removal.
    ///
    /// It is removed by sequence number and not by subject; `message(_:)` gives the reason.
    package func erase(_ revision: UInt64) async throws {
        try await stream.remove(revision, of: streamName)
    }

    // MARK: Reading

    /// The latest entry of a key; nil when there is none. The entry of a removed key has no value.
    ///
    /// Read from the stream's leader, so never older than a value that was read or written before.
    package func entry(_ key: String) async throws -> KeyValueEntry? {
        guard let found = try await stream.last(on: subject(key), of: streamName) else { return nil }
        let isRemoved = found.headers.contains("KV-Operation")
        return KeyValueEntry(key: key, value: isRemoved ? nil : found.bytes, revision: found.sequence)
    }
}

extension KeyValueBucket {
    /// Watches a bucket: delivers its entries, then every change in order, until an error occurs.
    ///
    /// Changes of a key in quick succession may be delivered as one.
    /// - Parameters:
    ///   - revision: the last revision that the caller already has; 0 delivers all entries.
    ///   - pullTime: the duration of one pull.
    ///   - receive: called with changes and whether there were no more of them at that time. Called at least once.
    /// - Throws: The error that ended it; the caller watches again from the last revision that it received.
    ///   `ReplicaBehindError` when the server that delivers the changes no longer receives them itself.
    package func watch(
        after revision: UInt64, pullTime: Duration = .seconds(5),
        _ receive: @Sendable ([KeyValueEntry], _ isCurrent: Bool) async throws -> Void
    ) async throws {
        var configuration = ConsumerConfiguration(stream: streamName, filter: "$KV.\(name).>")
        configuration.start = revision == 0 ? .latestPerSubject : .sequence(revision.adding(clamping: 1))
        let (consumer, pending) = try await stream.ephemeralConsumer(configuration)
        if pending == 0 { try await receive([], true) }
        var lastSequence: UInt64 = 0
        var reached = revision
        var isBehind = false
        while true {
            let former = lastSequence
            let pull = consumer.pull(Self.watchBatchSize, for: pullTime)
            while let deliveries = try await pull.next() {
                try deliveries.checkOrder(after: lastSequence)
                lastSequence = lastSequence.adding(clamping: UInt64(deliveries.count))
                reached = deliveries.last?.sequence ?? reached
                try await receive(deliveries.map(entry), deliveries.last?.pending == 0)
            }
            if lastSequence > former {
                isBehind = false
                continue
            }
            // A change made just now is delivered by the next pull, so only two empty pulls in a row count.
            if isBehind { throw ReplicaBehindError(stream: streamName, sequence: reached) }
            isBehind = try await stream.next(after: reached, on: configuration.filter, of: streamName) != nil
        }
    }

    /// The maximum number of messages per pull.
    private static let watchBatchSize = 1_000

    private func entry(_ delivery: Delivery) -> KeyValueEntry {
        KeyValueEntry(
            key: key(of: delivery.subject), value: delivery.operation == nil ? delivery.bytes : nil,
            revision: delivery.sequence)
    }
}

/// The server of the consumer lacks messages that the stream's leader has, for example because its disk is full. A new
/// consumer may be assigned to another server.
package struct ReplicaBehindError: Error, Sendable, Hashable, CustomStringConvertible {
    package var stream: String
    /// The sequence number of the last delivered message.
    package var sequence: UInt64

    package var description: String {
        "a server's copy of \(stream) ends at message \(sequence), behind the copy of the stream's leader"
    }
}

package struct KeyValueEntry: Sendable, Hashable {
    package var key: String
    /// Nil when the key was removed.
    package var value: [UInt8]?
    /// Its sequence number in the bucket: a later change of any key has a higher one.
    package var revision: UInt64

    package init(key: String, value: [UInt8]?, revision: UInt64) {
        self.key = key
        self.value = value
        self.revision = revision
    }
}
