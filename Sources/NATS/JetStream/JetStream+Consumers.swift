extension JetStream {
    /// Makes a consumer that is not there, and checks one that is.
    ///
    /// - Returns: what pulls from it.
    /// - Throws: `StreamMismatch` when one of its name has another subject, or another time to acknowledge.
    package func consumer(_ name: String, _ shape: ConsumerShape) async throws -> PullConsumer {
        var shape = shape
        shape.name = name
        try Self.check(try await information(shape, name).config, against: shape)
        return try await PullConsumer(self, stream: shape.stream, name: name)
    }

    /// Makes a consumer that is ours alone and goes when we do not ask it any more.
    ///
    /// - Returns: with it, how many messages it has to give now.
    func passingConsumer(_ shape: ConsumerShape) async throws -> (PullConsumer, pending: UInt64) {
        let made = try await make(shape, "CONSUMER.CREATE.\(shape.stream)")
        return (try await PullConsumer(self, stream: shape.stream, name: made.name), made.num_pending)
    }

    /// Whether a shared consumer's leader misses messages that the stream's leader has, and so never delivers them.
    ///
    /// The copy of a server whose disk is full stops, while the server goes on to lead consumers
    /// (seen with nats-server 2.15.1).
    /// - Returns: the last message that it delivered; nil when it misses nothing now.
    package func missedMessages(_ name: String, _ shape: ConsumerShape) async throws -> UInt64? {
        let found: ConsumerInformation = try await ask("CONSUMER.INFO.\(shape.stream).\(name)")
        guard found.num_pending == 0, let delivered = found.delivered?.stream_seq else { return nil }
        let next = try await next(after: delivered, on: shape.filter, of: shape.stream)
        return next == nil ? nil : delivered
    }

    private struct StepDown: Decodable {
        var success: Bool
    }

    /// Has the servers elect another leader of a consumer. Its configuration and messages stay.
    package func electLeader(ofConsumer name: String, of stream: String) async throws {
        let _: StepDown = try await ask("CONSUMER.LEADER.STEPDOWN.\(stream).\(name)")
    }

    private func information(_ shape: ConsumerShape, _ name: String) async throws -> ConsumerInformation {
        do {
            return try await ask("CONSUMER.INFO.\(shape.stream).\(name)")
        } catch let error as NATSError where error.isRefusal(NATSError.Number.consumerNotFound) {
            return try await make(shape, "CONSUMER.DURABLE.CREATE.\(shape.stream).\(name)")
        }
    }

    private struct Wish: Encodable {
        var stream_name: String
        var config: ConsumerConfiguration
    }

    private func make(_ shape: ConsumerShape, _ operation: String) async throws -> ConsumerInformation {
        try await ask(operation, Wish(stream_name: shape.stream, config: ConsumerConfiguration(shape)))
    }

    /// What our work rests on; pure.
    static func check(_ found: ConsumerConfiguration, against shape: ConsumerShape) throws {
        let wanted = ConsumerConfiguration(shape)
        let differences = [
            found.filter_subject == wanted.filter_subject ? nil : "filter_subject",
            found.ack_policy == wanted.ack_policy ? nil : "ack_policy",
            wanted.ack_wait == nil || found.ack_wait == wanted.ack_wait ? nil : "ack_wait",
            found.max_deliver == wanted.max_deliver ? nil : "max_deliver",
        ].compactMap(\.self)
        guard differences.isEmpty else {
            throw StreamMismatch(name: "\(shape.stream) > \(shape.name ?? "")", differences: differences)
        }
    }
}
