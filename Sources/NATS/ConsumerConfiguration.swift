package struct ConsumerConfiguration: Sendable, Hashable {
    package var stream: String
    /// Nil for an ephemeral consumer, which only its creator uses.
    var name: String?
    package var description: String?
    package var filter: String
    /// The time after which an unacknowledged message is delivered again; nil for a consumer without acknowledgments.
    package var ackWait: Duration?
    package var start = Start.all

    package enum Start: Sendable, Hashable {
        case all
        /// The latest message of each subject, then every new one.
        case latestPerSubject
        /// The message with this sequence number and all later ones.
        case sequence(UInt64)
    }

    package init(stream: String, filter: String) {
        self.stream = stream
        self.filter = filter
    }
}

/// A consumer's configuration as the API's JSON; durations are in nanoseconds.
struct ConsumerConfigurationJSON: Codable, Sendable {
    var durable_name: String?
    var description: String?
    var deliver_policy: String
    var opt_start_seq: UInt64?
    var ack_policy: String
    var ack_wait: Int64?
    var filter_subject: String?
    /// Unlimited deliveries: the queue itself limits how often a job may fail.
    var max_deliver = -1
    /// Unlimited, because deferred jobs count as well: a limit would stop the lane.
    var max_ack_pending: Int?
    var inactive_threshold: Int64?
    var mem_storage: Bool?

    init(_ configuration: ConsumerConfiguration) {
        durable_name = configuration.name
        description = configuration.description
        filter_subject = configuration.filter
        switch configuration.start {
        case .all: deliver_policy = "all"
        case .latestPerSubject: deliver_policy = "last_per_subject"
        case .sequence(let sequence):
            deliver_policy = "by_start_sequence"
            opt_start_seq = sequence
        }
        ack_policy = configuration.ackWait == nil ? "none" : "explicit"
        ack_wait = configuration.ackWait.map(\.nanoseconds)
        max_ack_pending = configuration.ackWait == nil ? nil : -1
        if configuration.name == nil {
            inactive_threshold = Duration.seconds(30).nanoseconds
            mem_storage = true
        }
    }
}

struct ConsumerInfo: Decodable, Sendable {
    var name: String
    var config: ConsumerConfigurationJSON
    /// The number of messages that it has not delivered yet.
    var num_pending: UInt64
    var delivered: Delivered?

    struct Delivered: Decodable, Sendable {
        /// The stream sequence number of the last message that was delivered for the first time.
        var stream_seq: UInt64
    }
}

extension JetStream {
    /// Creates a missing durable consumer, or checks an existing one.
    ///
    /// - Returns: Whether it was missing.
    /// - Throws: `StreamMismatchError` when a consumer of that name has another subject filter or acknowledgment
    ///   setting.
    @discardableResult
    package func ensureConsumer(_ name: String, _ configuration: ConsumerConfiguration) async throws -> Bool {
        var configuration = configuration
        configuration.name = name
        let (found, isNew) = try await information(configuration, name)
        try Self.check(found.config, against: configuration)
        return isNew
    }

    /// A durable consumer, which need not exist yet.
    package func consumer(_ name: String, of stream: String) async throws -> PullConsumer {
        try await PullConsumer(self, stream: stream, name: name)
    }

    /// Creates an ephemeral consumer, which the servers remove after 30 s without a pull.
    ///
    /// - Returns: The consumer and the number of messages that it has to deliver now.
    func ephemeralConsumer(_ configuration: ConsumerConfiguration) async throws -> (PullConsumer, pending: UInt64) {
        let made = try await make(configuration, "CONSUMER.CREATE.\(configuration.stream)")
        return (try await PullConsumer(self, stream: configuration.stream, name: made.name), made.num_pending)
    }

    /// Checks whether the server that leads a shared consumer lacks messages that the stream's leader has, and so never
    /// delivers them.
    ///
    /// A server with a full disk stops copying the stream but continues to lead consumers (seen with nats-server
    /// 2.15.1).
    /// - Returns: The sequence number of the last message that it delivered; nil when it lacks none.
    package func missedMessages(_ name: String, _ configuration: ConsumerConfiguration) async throws -> UInt64? {
        let found: ConsumerInfo = try await request("CONSUMER.INFO.\(configuration.stream).\(name)")
        guard found.num_pending == 0, let delivered = found.delivered?.stream_seq else { return nil }
        let next = try await next(after: delivered, on: configuration.filter, of: configuration.stream)
        return next == nil ? nil : delivered
    }

    private struct StepDown: Decodable {
        var success: Bool
    }

    /// Makes the servers elect another leader of a consumer. Its configuration and messages are kept.
    package func electLeader(ofConsumer name: String, of stream: String) async throws {
        let _: StepDown = try await request("CONSUMER.LEADER.STEPDOWN.\(stream).\(name)")
    }

    private func information(
        _ configuration: ConsumerConfiguration, _ name: String
    ) async throws -> (ConsumerInfo, isNew: Bool) {
        do {
            return (try await request("CONSUMER.INFO.\(configuration.stream).\(name)"), false)
        } catch let error as NATSError where error.hasErrorCode(NATSError.APIErrorCode.consumerNotFound) {
            return (try await make(configuration, "CONSUMER.DURABLE.CREATE.\(configuration.stream).\(name)"), true)
        }
    }

    private struct CreateConsumerRequest: Encodable {
        var stream_name: String
        var config: ConsumerConfigurationJSON
    }

    private func make(_ configuration: ConsumerConfiguration, _ operation: String) async throws -> ConsumerInfo {
        try await request(
            operation,
            CreateConsumerRequest(stream_name: configuration.stream, config: ConsumerConfigurationJSON(configuration)))
    }

    /// Checks the settings that the queue depends on; pure.
    static func check(_ found: ConsumerConfigurationJSON, against configuration: ConsumerConfiguration) throws {
        let wanted = ConsumerConfigurationJSON(configuration)
        let differences = [
            found.filter_subject == wanted.filter_subject ? nil : "filter_subject",
            found.ack_policy == wanted.ack_policy ? nil : "ack_policy",
            wanted.ack_wait == nil || found.ack_wait == wanted.ack_wait ? nil : "ack_wait",
            found.max_deliver == wanted.max_deliver ? nil : "max_deliver",
        ].compactMap(\.self)
        guard differences.isEmpty else {
            throw StreamMismatchError(
                name: "\(configuration.stream) > \(configuration.name ?? "")", differences: differences)
        }
    }
}
