import AttachPrep
import AttachPrepJobs
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic

/// Read-only diagnostics of a queue's servers.
public struct QueueDiagnostics: Codable, Sendable, Hashable {
    /// A stream or a bucket.
    public struct StreamSummary: Codable, Sendable, Hashable {
        public var name: String
        /// Nil when it does not exist yet; the first process that starts creates it.
        public var messages: Int?
        /// The size of each copy in bytes.
        public var bytes: Int?
        public var replicas: Int?
        /// The name of the leader; nil on a single server.
        public var leader: String?
    }

    /// A NATS server, probed at its own address.
    public struct Server: Codable, Sendable, Hashable {
        /// The address without credentials.
        public var address: String
        /// Nil when it could not be reached from here.
        public var version: String?
        /// When it flushes acknowledged jobs to its disk; nil when its monitoring endpoint cannot be read from here.
        public var diskSync: DiskSync?
        /// The server's ID: one server may have several addresses.
        var id: String?
    }

    /// All configured and discovered servers.
    public var servers: [Server]
    /// The mean time of a request, in milliseconds.
    public var roundTripMilliseconds: Double
    public var parts: [StreamSummary]
    /// Whether a process can start with these servers.
    public var isUsable: Bool
    /// Problems that put jobs at risk or keep them from being accepted, each with its remedy.
    public var faults: [String]
    /// What may put jobs at risk, depending on how the servers can fail.
    public var warnings: [String] = []

    /// Queries the servers.
    ///
    /// - Parameter monitoringPort: The port of the servers' monitoring endpoints, which are on the same hosts.
    /// - Throws: `queue.unavailable` with the reason: no server reachable, credentials rejected, JetStream disabled, or
    ///   streams of the same name with another configuration.
    public init(of servers: QueueServers, monitoringPort: Int = Self.monitoringPort) async throws {
        // Connects to any version; an old one is reported among the faults.
        let connection = try await QueueErrorMapping.mapError { try await NATSConnection.connect(servers.settings) }
        defer { connection.close() }
        self.servers = await Self.probe(at: connection.knownServers, as: servers.settings, monitoringPort)
        let layout = QueueLayout(
            names: QueueNames(prefix: servers.prefix), replicas: servers.replicas,
            lease: .seconds(Limits.leaseSeconds), limits: StoreLimits())
        (roundTripMilliseconds, parts, faults, isUsable) = (0, [], [], true)
        let stream = JetStream(connection)
        let start = ContinuousClock.now
        for configuration in layout.streams {
            do {
                add(configuration.name, try await stream.status(configuration))
            } catch {
                guard case .leaderless = await stream.availability(configuration) else {
                    throw QueueErrorMapping.error(error)
                }
                var outages = StreamOutages()
                outages.observe(configuration.name, .leaderless, at: 0)
                faults += [outages.unavailableReason(at: .max, repaired: layout.lanes.name)].compactMap(\.self)
            }
        }
        let milliseconds = start.duration(to: .now) / .milliseconds(1) / Double(layout.streams.count)
        roundTripMilliseconds = (milliseconds * 100).rounded() / 100
        let reasons = blockingProblems(as: servers)
        isUsable = reasons.isEmpty
        faults += reasons
        warnings = Self.syncWarnings(
            self.servers, copies: parts.compactMap(\.replicas).max() ?? servers.replicas, monitoringPort: monitoringPort
        )
    }

    /// The problems that keep a process from starting, each with its remedy.
    private func blockingProblems(as named: QueueServers) -> [String] {
        var blockingProblems = named.allowsDivergingServer ? [] : servers.compactMap(Self.versionProblem)
        let isMade = parts.allSatisfy { $0.messages != nil }
        if let replicas = named.replicas, !isMade, replicas > serverCountMax {
            blockingProblems.append(
                "--queue-replicas \(replicas) needs \(replicas) NATS servers with JetStream, and there "
                    + (serverCountMax == 1 ? "is 1" : "are \(serverCountMax)")
                    + "; start more of them, or set --queue-replicas \(serverCountMax).")
        }
        return blockingProblems
    }

    private static func versionProblem(_ server: Server) -> String? {
        guard let text = server.version, let version = NATSServerVersion(text), version < QueueServers.minimumVersion
        else { return nil }
        let error = NATSError.serverTooOld(version, least: QueueServers.minimumVersion)
        return "\(server.address): \(QueueErrorMapping.sentence(error))"
    }

    /// The maximum possible number of servers: each unreachable address may be another server.
    private var serverCountMax: Int {
        let reached = Set(servers.compactMap(\.id)).count
        return reached.adding(clamping: servers.count { $0.id == nil })
    }

    /// Probes each server at its own address, all concurrently.
    private static func probe(at addresses: [String], as settings: NATSSettings, _ monitoringPort: Int) async
        -> [Server]
    {
        // The servers are the operator's, mostly on private networks.
        let client = try? HTTPClient(policy: DownloadPolicy(allowsPrivateNetwork: true))
        let servers = await withTaskGroup(of: Server.self) { group in
            for address in addresses {
                group.addTask { await probe(at: address, as: settings, monitoringPort, client) }
            }
            return await group.reduce(into: [Server]()) { $0.append($1) }.sorted { $0.address < $1.address }
        }
        await client?.shutdown()
        return servers
    }

    private static func probe(
        at address: String, as settings: NATSSettings, _ monitoringPort: Int, _ client: HTTPClient?
    ) async -> Server {
        var own = settings
        own.servers = [settings.address(like: address)]
        own.discoversServers = false
        guard let connection = try? await NATSConnection.connect(own) else { return Server(address: address) }
        defer { connection.close() }
        var server = Server(address: address, version: "\(connection.serverVersion)", id: connection.serverID)
        if let host = host(of: address), let client {
            server.diskSync = await DiskSync.read(
                host: host, port: monitoringPort, serverID: connection.serverID, client)
        }
        return server
    }

    private mutating func add(_ name: String, _ status: StreamStatus?) {
        guard let status else { return parts.append(StreamSummary(name: name)) }
        parts.append(
            StreamSummary(
                name: name, messages: status.messages, bytes: status.bytes, replicas: status.replicas,
                leader: status.leader))
        for server in status.laggingServers {
            faults.append("Server \(server) is offline, or its copy of \(name) is behind; check its log.")
        }
        if status.replicas > 1, status.leader == nil {
            faults.append("\(name) has no leader: at least half of its servers are offline; start them.")
        }
    }
}
