import NATS
import RichPush

/// How the servers of a queue are: looked at, and left as they are.
public struct QueueExamination: Codable, Sendable, Hashable {
    /// A stream or a bucket.
    public struct Part: Codable, Sendable, Hashable {
        public var name: String
        /// Nil for one that is not there yet: the first process that starts makes it.
        public var messages: Int?
        /// Decimal bytes, on each server that has a copy.
        public var bytes: Int?
        public var replicas: Int?
        /// The server that decides; nil in a queue of one server.
        public var leader: String?
    }

    /// In the time of one question and its answer.
    public var roundTripMilliseconds: Double
    public var parts: [Part]
    /// What keeps jobs from being safe, or from being taken in, each with its remedy.
    public var faults: [String]

    /// Asks the servers.
    ///
    /// - Throws: `queue.unavailable`, which says what is in the way: nobody there, an identity that is refused, no
    ///   JetStream, somebody else's streams under our names.
    public init(of servers: QueueServers) async throws {
        let connection = try await QueueFault.named { try await NATSConnection.connect(servers.settings) }
        defer { connection.close() }
        let shapes = QueueShapes(
            names: QueueNames(prefix: servers.prefix), replicas: servers.replicas,
            lease: .seconds(Limits.leaseSeconds), limits: StoreLimits())
        (roundTripMilliseconds, parts, faults) = (0, [], [])
        let stream = JetStream(connection)
        let start = ContinuousClock.now
        for shape in shapes.streams {
            let standing = try await QueueFault.named { try await stream.standing(shape) }
            add(shape.name, standing)
        }
        let milliseconds = start.duration(to: .now) / .milliseconds(1) / Double(shapes.streams.count)
        roundTripMilliseconds = (milliseconds * 100).rounded() / 100
    }

    private mutating func add(_ name: String, _ standing: StreamStanding?) {
        guard let standing else { return parts.append(Part(name: name)) }
        parts.append(
            Part(
                name: name, messages: standing.messages, bytes: standing.bytes, replicas: standing.replicas,
                leader: standing.leader))
        for server in standing.late {
            faults.append("\(server)'s copy of \(name) is behind, or that server is not there; look at its log.")
        }
        if standing.replicas > 1, standing.leader == nil {
            faults.append("\(name) has no leader: more than half of its servers are away; start them.")
        }
    }
}
