internal import SafeArithmetic

extension KeyValueBucket {
    /// Follows a bucket: all that it has, then every change in its order, until something fails.
    ///
    /// Changes of a key that follow each other closely may be heard of as one.
    /// - Parameters:
    ///   - revision: what came up to there is known already; 0 for nothing.
    ///   - pullTime: how long the servers wait for changes before they are asked again.
    ///   - hear: gets changes, and whether there were no more of them at that time. Called at least once.
    /// - Throws: why it ended: the caller follows again, from the last revision that it has heard of. `CopyIsBehind`
    ///   when the server that sends the changes has stopped to get them itself.
    package func follow(
        after revision: UInt64, pullTime: Duration = .seconds(5),
        _ hear: @Sendable ([KeyValueEntry], _ isCurrent: Bool) async throws -> Void
    ) async throws {
        var shape = ConsumerShape(stream: streamName, filter: "$KV.\(name).>")
        shape.start = revision == 0 ? .latestPerSubject : .number(revision.adding(clamping: 1))
        let (consumer, pending) = try await stream.passingConsumer(shape)
        if pending == 0 { try await hear([], true) }
        var place: UInt64 = 0
        var reached = revision
        var isBehind = false
        while true {
            let former = place
            let pull = consumer.pull(Self.followedCount, for: pullTime)
            while let deliveries = try await pull.next() {
                try deliveries.checkOrder(after: place)
                place = place.adding(clamping: UInt64(deliveries.count))
                reached = deliveries.last?.number ?? reached
                try await hear(deliveries.map(entry), deliveries.last?.pending == 0)
            }
            if place > former {
                isBehind = false
                continue
            }
            // A change that was made just now is delivered by the next pull, so it takes two without any.
            if isBehind { throw CopyIsBehind(stream: streamName, number: reached) }
            isBehind = try await stream.next(after: reached, on: shape.filter, of: streamName) != nil
        }
    }

    /// Asked for at a time: what the servers may send before they are asked again.
    private static let followedCount = 1_000

    private func entry(_ delivery: Delivery) -> KeyValueEntry {
        KeyValueEntry(
            key: key(of: delivery.subject), value: delivery.operation == nil ? delivery.bytes : nil,
            revision: delivery.number)
    }
}

/// The leader of a stream has messages that the server of our consumer has not: its disk is full, for instance. A new
/// consumer may be placed on another server.
package struct CopyIsBehind: Error, Sendable, Hashable, CustomStringConvertible {
    package var stream: String
    /// The last message that was delivered.
    package var number: UInt64

    package var description: String { "a server's copy of \(stream) ends at \(number), and its leader's goes on" }
}
