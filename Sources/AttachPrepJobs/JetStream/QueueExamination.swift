import NATS
import RichPush
import SafeArithmetic

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

    /// A NATS server, as it answers at its own address.
    public struct Server: Codable, Sendable, Hashable {
        /// Without who we are.
        public var address: String
        /// Nil for one that could not be reached from here.
        public var version: String?
        /// What it calls itself: one server may have several addresses.
        var id: String?
    }

    /// All that were named or found.
    public var servers: [Server]
    /// In the time of one question and its answer.
    public var roundTripMilliseconds: Double
    public var parts: [Part]
    /// Whether a process that starts takes these servers.
    public var isUsable: Bool
    /// What keeps jobs from being safe, or from being taken in, each with its remedy.
    public var faults: [String]

    /// Asks the servers.
    ///
    /// - Throws: `queue.unavailable`, which says what is in the way: nobody there, an identity that is refused, no
    ///   JetStream, somebody else's streams under our names.
    public init(of servers: QueueServers) async throws {
        // Any version: what is wrong with it is said with the rest.
        let connection = try await QueueFault.named { try await NATSConnection.connect(servers.settings) }
        defer { connection.close() }
        self.servers = await Self.look(at: connection.knownServers, as: servers.settings)
        let shapes = QueueShapes(
            names: QueueNames(prefix: servers.prefix), replicas: servers.replicas,
            lease: .seconds(Limits.leaseSeconds), limits: StoreLimits())
        (roundTripMilliseconds, parts, faults, isUsable) = (0, [], [], true)
        let stream = JetStream(connection)
        let start = ContinuousClock.now
        for shape in shapes.streams {
            let standing = try await QueueFault.named { try await stream.standing(shape) }
            add(shape.name, standing)
        }
        let milliseconds = start.duration(to: .now) / .milliseconds(1) / Double(shapes.streams.count)
        roundTripMilliseconds = (milliseconds * 100).rounded() / 100
        let reasons = refusals(as: servers)
        isUsable = reasons.isEmpty
        faults += reasons  // Bounded: lists, not numbers.
    }

    /// What ends a process that starts, each with its remedy.
    private func refusals(as named: QueueServers) -> [String] {
        var refusals = named.allowsDivergingServer ? [] : servers.compactMap(Self.fault)
        let isMade = parts.allSatisfy { $0.messages != nil }
        if let replicas = named.replicas, !isMade, replicas > serverCountMax {
            refusals.append(
                "--queue-replicas \(replicas) needs \(replicas) NATS servers with JetStream, and there "
                    // Bounded: texts, not numbers.
                    + (serverCountMax == 1 ? "is 1" : "are \(serverCountMax)")
                    + "; start more of them, or give --queue-replicas \(serverCountMax).")
        }
        return refusals
    }

    private static func fault(_ server: Server) -> String? {
        guard let text = server.version, let version = NATSServerVersion(text), version < QueueServers.leastVersion
        else { return nil }
        let error = NATSError.serverTooOld(version, least: QueueServers.leastVersion)
        return "\(server.address): \(QueueFault.sentence(error))"
    }

    /// As many as there can be: those that cannot be reached from here may be others, or the same by another name.
    private var serverCountMax: Int {
        let reached = Set(servers.compactMap(\.id)).count
        return reached.adding(clamping: servers.count { $0.id == nil })
    }

    /// Asks each server at its own address, all at the same time.
    private static func look(at addresses: [String], as settings: NATSSettings) async -> [Server] {
        await withTaskGroup(of: Server.self) { group in
            for address in addresses { group.addTask { await look(at: address, as: settings) } }
            return await group.reduce(into: [Server]()) { $0.append($1) }.sorted { $0.address < $1.address }
        }
    }

    private static func look(at address: String, as settings: NATSSettings) async -> Server {
        var own = settings
        own.servers = [settings.address(like: address)]
        own.discoversServers = false
        guard let connection = try? await NATSConnection.connect(own) else { return Server(address: address) }
        defer { connection.close() }
        return Server(address: address, version: "\(connection.serverVersion)", id: connection.serverID)
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
