import Foundation

/// A real nats-server on loopback with JetStream, in a folder of its own; killed when the last holder lets go.
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
    ///   - extra: more lines of its configuration.
    ///   - hasJetStream: whether it keeps messages; with operators it needs more papers than we have.
    public static func start(_ extra: String = "", hasJetStream: Bool = true) async throws -> NATSServer {
        let server = try launched(extra, hasJetStream: hasJetStream)
        try await server.untilReady()
        return server
    }

    /// The lines of a configuration that has it speak TLS and ask clients for a certificate of the tests' authority.
    public static func tls(_ identity: TestCertificates.Identity, asksClients: Bool = false) throws -> String {
        let certificates = try TestCertificates.shared
        return """
            tls {
                cert_file: "\(certificates.certificateFile(identity))"
                key_file: "\(certificates.keyFile(identity))"
                ca_file: "\(certificates.authorityFile)"
                verify: \(asksClients)
            }
            """
    }

    /// A certificate that a client may show, and its key.
    public static func clientCertificate() throws -> (certificate: String, key: String) {
        let certificates = try TestCertificates.shared
        return (certificates.certificateFile(.forClients), certificates.keyFile(.forClients))
    }

    /// Starts one without waiting for it.
    ///
    /// - Parameter diskMegabytes: it gets a disk of its own of that size; nil takes what there is. Needs root.
    static func launched(
        _ extra: String, hasJetStream: Bool = true, diskMegabytes: Int? = nil
    ) throws -> NATSServer {
        let folder = try TemporaryFolder()
        let port = try LoopbackSocket.freePort()
        try folder.write(
            """
            listen: "127.0.0.1:\(port)"
            \(hasJetStream ? "jetstream { store_dir: \"\(folder.path("jetstream"))\" }" : "")
            \(extra)

            """, to: "server.conf")
        return NATSServer(port: port, folder: folder, command: try launch(folder, diskMegabytes))
    }

    /// The program of `tools/nats-server`; `ATTACHPREP_NATS_SERVER` names another, to try a version by hand.
    private static let program = Result {
        if let path = ProcessInfo.processInfo.environment["ATTACHPREP_NATS_SERVER"] { return path }
        let install = try RunCommand(SourceTree.path("tools/nats-server/install"), timeoutSeconds: 300).runBlocking()
        guard let path = install.lines.last else {
            throw CommandFailure(description: "make deps-test installs nats-server: \(install.errorText)")
        }
        return path
    }

    private static func launch(_ folder: TemporaryFolder, _ diskMegabytes: Int? = nil) throws -> RunningCommand {
        let program = [try program.get(), "-c", folder.path("server.conf")]
        guard let diskMegabytes else {
            return try RunCommand(program[0], Array(program.dropFirst()), timeoutSeconds: 3600).start()
        }
        let script = "mkdir -p \"$0\" && mount -t tmpfs -o size=\(diskMegabytes)m none \"$0\" && exec \"$@\""
        let words = ["-m", "sh", "-c", script, folder.path("jetstream")] + program
        return try RunCommand("unshare", words, timeoutSeconds: 3600).start()
    }

    /// Waits until it takes connections.
    public func untilReady() async throws {
        let port = port
        try await waitUntil("nats-server on port \(port)") { LoopbackSocket.accepts("127.0.0.1", port: port) }
    }

    /// Waits until it takes none.
    public func untilGone() async throws {
        let port = port
        try await waitUntil("nothing on port \(port)") { !LoopbackSocket.accepts("127.0.0.1", port: port) }
    }

    /// SIGKILL: what it has not synchronised is the system's to keep.
    public func kill() { send(SIGKILL) }

    public func send(_ signal: Int32) { running.lock.withLock { running.command }.send(signal) }

    /// Starts it again, with what its disk has.
    public func restart() async throws {
        let former = running.lock.withLock { running.command }
        former.send(SIGKILL)
        _ = try await former.result()
        let command = try Self.launch(folder)
        running.lock.withLock { running.command = command }
        try await untilReady()
    }
}
