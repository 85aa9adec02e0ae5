import Foundation

/// A real nats-server on loopback with JetStream, in its own folder; killed with the last reference.
///
/// ```swift
/// let server = try await NATSServer.start()
/// let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
/// ```
public final class NATSServer: Sendable {
    public let port: Int
    public let folder: TemporaryFolder
    private let running: Running

    private final class Running: @unchecked Sendable {
        // Locked by `lock`.
        var command: RunningCommand
        let lock = NSLock()

        init(_ command: RunningCommand) { self.command = command }
    }

    private init(port: Int, folder: TemporaryFolder, command: RunningCommand) {
        self.port = port
        self.folder = folder
        running = Running(command)
    }

    deinit {
        kill()
    }

    public var url: String { "nats://127.0.0.1:\(port)" }

    /// - Parameters:
    ///   - extra: further lines of its configuration.
    ///   - jetStream: further settings of JetStream.
    ///   - hasJetStream: false for tests with operators, whose JetStream needs more credentials than the tests have.
    public static func start(
        _ extra: String = "", jetStream: String = "", hasJetStream: Bool = true
    ) async throws -> NATSServer {
        let server = try launched(extra, jetStream: jetStream, hasJetStream: hasJetStream)
        try await server.waitUntilReady()
        return server
    }

    /// Configuration lines for TLS; with `verifiesClients`, clients need a certificate of the tests' authority.
    public static func tls(_ identity: TestCertificates.Identity, verifiesClients: Bool = false) throws -> String {
        let certificates = try TestCertificates.shared
        return """
            tls {
                cert_file: "\(certificates.certificateFile(identity))"
                key_file: "\(certificates.keyFile(identity))"
                ca_file: "\(certificates.authorityFile)"
                verify: \(verifiesClients)
            }
            """
    }

    /// A client certificate and its key.
    public static func clientCertificate() throws -> (certificate: String, key: String) {
        let certificates = try TestCertificates.shared
        return (certificates.certificateFile(.forClients), certificates.keyFile(.forClients))
    }

    /// Starts a server without waiting until it is ready.
    ///
    /// - Parameter diskMegabytes: the size of a separate tmpfs for it, which needs root; nil uses the folder's disk.
    static func launched(
        _ extra: String, jetStream: String = "", hasJetStream: Bool = true, diskMegabytes: Int? = nil
    ) throws -> NATSServer {
        let folder = try TemporaryFolder()
        let port = try LoopbackSocket.freePort()
        try folder.write(
            """
            listen: "127.0.0.1:\(port)"
            \(hasJetStream ? "jetstream { store_dir: \"\(folder.path("jetstream"))\", \(jetStream) }" : "")
            \(extra)

            """, to: "server.conf")
        return NATSServer(port: port, folder: folder, command: try launch(folder, diskMegabytes))
    }

    /// The program of `tools/nats-server`; `ATTACHPREP_NATS_SERVER` selects another version.
    private static let program = Result {
        if let path = ProcessInfo.processInfo.environment["ATTACHPREP_NATS_SERVER"] { return path }
        let install = try RunCommand(SourceTree.path("tools/nats-server/install"), timeoutSeconds: 300).runBlocking()
        guard let path = install.lines.last else {
            throw CommandError(description: "make deps-test installs nats-server: \(install.errorText)")
        }
        return path
    }

    private static func launch(_ folder: TemporaryFolder, _ diskMegabytes: Int? = nil) throws -> RunningCommand {
        let program = [try program.get(), "-c", folder.path("server.conf")]
        guard let diskMegabytes else {
            return try RunCommand(program[0], Array(program.dropFirst()), timeoutSeconds: 3600).start()
        }
        let script = "mkdir -p \"$0\" && mount -t tmpfs -o size=\(diskMegabytes)m none \"$0\" && exec \"$@\""
        let arguments = ["-m", "sh", "-c", script, folder.path("jetstream")] + program
        return try RunCommand("unshare", arguments, timeoutSeconds: 3600).start()
    }

    /// A port on loopback on which nothing listens.
    public static func freePort() throws -> Int { try LoopbackSocket.freePort() }

    /// Waits until it accepts connections.
    public func waitUntilReady() async throws {
        let port = port
        try await waitUntil("nats-server on port \(port)") { LoopbackSocket.accepts("127.0.0.1", port: port) }
    }

    /// Waits until it accepts no connections.
    public func waitUntilGone() async throws {
        let port = port
        try await waitUntil("nothing on port \(port)") { !LoopbackSocket.accepts("127.0.0.1", port: port) }
    }

    /// Sends SIGKILL; data that it has not synchronized may be lost.
    public func kill() { send(SIGKILL) }

    public func send(_ signal: Int32) { running.lock.withLock { running.command }.send(signal) }

    /// Kills it and starts it again on the same folder.
    public func restart() async throws {
        let former = running.lock.withLock { running.command }
        former.send(SIGKILL)
        _ = try await former.result()
        let command = try Self.launch(folder)
        running.lock.withLock { running.command = command }
        try await waitUntilReady()
    }
}

/// A cluster of three real nats-servers on loopback, `node0` to `node2`, each with its name as its tag.
public final class NATSCluster: Sendable {
    public let servers: [NATSServer]

    private init(_ servers: [NATSServer]) {
        self.servers = servers
    }

    public var urls: [String] { servers.map(\.url) }

    /// - Parameter diskMegabytes: the size of a separate tmpfs for the first server. Needs root.
    public static func start(diskMegabytes: Int? = nil) async throws -> NATSCluster {
        let ports = try freePorts()
        let routes = ports.map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
        let servers = try ports.enumerated().map { index, port in
            try NATSServer.launched(
                """
                server_name: "node\(index)"
                server_tags: ["node\(index)"]
                cluster { name: "test", listen: "127.0.0.1:\(port)", routes: [\(routes)] }
                """, diskMegabytes: index == 0 ? diskMegabytes : nil)
        }
        for server in servers { try await server.waitUntilReady() }
        return NATSCluster(servers)
    }

    /// Keeps all sockets open until all ports are known, so that no two are the same.
    private static func freePorts() throws -> [Int] {
        let sockets = try (0..<3).map { _ in try LoopbackSocket.listen(address: "127.0.0.1", port: 0) }
        return try sockets.map { try $0.localPort() }
    }
}
