/// Three real nats-servers on loopback that know each other.
public final class NATSCluster: Sendable {
    public let servers: [NATSServer]

    private init(_ servers: [NATSServer]) {
        self.servers = servers
    }

    public var urls: [String] { servers.map(\.url) }

    /// - Parameter diskMegabytes: the first one gets a disk of its own of that size. Needs root.
    public static func start(diskMegabytes: Int? = nil) async throws -> NATSCluster {
        let ports = try freePorts()
        let routes = ports.map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
        let servers = try ports.enumerated().map { index, port in
            try NATSServer.launched(
                """
                server_name: "node\(index)"
                cluster { name: "test", listen: "127.0.0.1:\(port)", routes: [\(routes)] }
                """, diskMegabytes: index == 0 ? diskMegabytes : nil)
        }
        for server in servers { try await server.untilReady() }
        return NATSCluster(servers)
    }

    /// Held until all are known, so that no two are the same.
    private static func freePorts() throws -> [Int] {
        let sockets = try (0..<3).map { _ in try LoopbackSocket.listen(address: "127.0.0.1", port: 0) }
        return try sockets.map { try $0.localPort() }
    }
}
