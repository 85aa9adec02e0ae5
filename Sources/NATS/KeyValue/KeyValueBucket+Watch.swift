internal import SafeArithmetic

extension KeyValueBucket {
    /// Follows a bucket: all that it has, then every change in its order, until something fails.
    ///
    /// Changes of a key that follow each other closely may be heard of as one.
    /// - Parameters:
    ///   - revision: what came up to there is known already; 0 for nothing.
    ///   - hear: gets changes, and whether there were no more of them at that time. Called at least once.
    /// - Throws: why it ended: the caller follows again, from the last revision that it has heard of.
    package func follow(
        after revision: UInt64, _ hear: @Sendable ([KeyValueEntry], _ isCurrent: Bool) async throws -> Void
    ) async throws {
        var shape = ConsumerShape(stream: streamName, filter: "$KV.\(name).>")
        shape.start = revision == 0 ? .latestPerSubject : .number(revision.adding(clamping: 1))
        let (consumer, pending) = try await stream.passingConsumer(shape)
        if pending == 0 { try await hear([], true) }
        var place: UInt64 = 0
        while true {
            let pull = consumer.pull(Self.followedCount, for: Self.followedTime)
            while let deliveries = try await pull.next() {
                try deliveries.checkOrder(after: place)
                place = place.adding(clamping: UInt64(deliveries.count))
                try await hear(deliveries.map(entry), deliveries.last?.pending == 0)
            }
        }
    }

    /// Asked for at a time: what the servers may send before they are asked again.
    private static let followedCount = 1_000
    /// A consumer that is gone is noticed after that, if not before.
    private static let followedTime = Duration.seconds(5)

    private func entry(_ delivery: Delivery) -> KeyValueEntry {
        KeyValueEntry(
            key: key(of: delivery.subject), value: delivery.operation == nil ? delivery.bytes : nil,
            revision: delivery.number)
    }
}
