import Foundation

/// A real PostgreSQL server on loopback, in its own folder; ended with the last reference.
///
/// ```swift
/// let server = try await PostgresServer.start()
/// let database = try await PostgresDatabase.open(PostgresAddress(server.url), …)
/// ```
///
/// Tests as root start it as the user `postgres` or `nobody`: it refuses to run as root.
public final class PostgresServer: Sendable {
    public let port: Int
    public let folder: TemporaryFolder
    private let running: Running

    private final class Running: @unchecked Sendable {
        // Locked by `lock`.
        var command: RunningCommand?
        let lock = NSLock()
    }

    private init(folder: TemporaryFolder) throws {
        self.folder = folder
        port = try LoopbackSocket.freePort()
        running = Running()
    }

    deinit {
        resume()
        // An immediate shutdown, which removes shared memory; SIGKILL would leave it.
        process?.send(SIGQUIT)
    }

    private var process: RunningCommand? { running.lock.withLock { running.command } }

    /// A superuser's URL, with a database of the same name.
    public var url: String { "postgres://postgres@127.0.0.1:\(port)/postgres" }

    /// The folder of its data, which only its user may read.
    public var dataFolder: String { folder.path("data") }

    // MARK: Starting

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - settings: further lines of its configuration.
    ///   - isDurable: false switches off the flushes to disk that only a power loss makes necessary.
    ///   - access: lines of pg_hba.conf that come before those that trust everyone on this machine.
    public static func start(
        _ settings: String = "", isDurable: Bool = false, access: String = "",
        tls identity: TestCertificates.Identity? = nil
    ) async throws -> PostgresServer {
        let folder = try await onOwnThread { try makeFolder() }
        let server = try PostgresServer(folder: folder)
        let template = try template.get()
        try await run(["cp", "-a", "--reflink=auto", template.path("data"), server.dataFolder])
        let authentication = try String(contentsOfFile: "\(server.dataFolder)/pg_hba.conf", encoding: .utf8)
        try (access + "\n" + authentication).write(
            toFile: "\(server.dataFolder)/pg_hba.conf", atomically: false, encoding: .utf8)
        let security = try identity.map { try server.secured($0) } ?? ""
        let flushes = isDurable ? "" : "fsync = off\nfull_page_writes = off\n"
        try server.configure(flushes + security + settings)
        try await server.start()
        return server
    }

    /// A copy that follows this server and accepts no changes until it is promoted.
    ///
    /// - Parameter name: its name in `synchronous_standby_names`.
    public func startStandby(_ settings: String = "", name: String = "standby") async throws -> PostgresServer {
        let folder = try await onOwnThread { try Self.makeFolder() }
        let standby = try PostgresServer(folder: folder)
        let source = "host=127.0.0.1 port=\(port) user=postgres application_name=\(name)"
        try await Self.run(
            Self.asUser + [
                Self.program("pg_basebackup"), "-D", standby.dataFolder, "-d", source, "-R", "-X", "stream", "-c",
                "fast", "--no-sync",
            ])
        try standby.configure("fsync = off\nfull_page_writes = off\n" + settings)
        try await standby.start()
        return standby
    }

    /// Makes a standby the primary of its data.
    public func promote() async throws { _ = try await psql("SELECT pg_promote()") }

    private func configure(_ settings: String) throws {
        let lines = """
            listen_addresses = '127.0.0.1'
            port = \(port)
            unix_socket_directories = '\(folder.path)'
            dynamic_shared_memory_type = mmap
            shared_buffers = 32MB
            max_connections = 60
            autovacuum_naptime = 1s
            \(settings)

            """
        // The last line of a setting counts.
        let path = "\(dataFolder)/postgresql.conf"
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(lines.utf8))
        try handle.close()
    }

    private func secured(_ identity: TestCertificates.Identity) throws -> String {
        let certificates = try TestCertificates.shared
        let files = [
            ("server.crt", certificates.chainFile(identity) ?? certificates.certificateFile(identity)),
            ("server.key", certificates.keyFile(identity)),
        ]
        for (name, source) in files {
            let path = "\(dataFolder)/\(name)"
            try FileManager.default.copyItem(atPath: source, toPath: path)
            chmod(path, 0o600)
            Self.giveToUser(path)
        }
        return "ssl = on\n"
    }

    private func start() async throws {
        let command = try RunCommand(
            Self.asUser[0], Array(Self.asUser.dropFirst()) + [Self.program("postgres"), "-D", dataFolder],
            environment: Self.libraries, folder: folder.path, timeoutSeconds: 3_600
        ).start()
        running.lock.withLock { running.command = command }
        try await waitUntil("PostgreSQL on port \(port): \((try? command.errorTextSoFar()) ?? "")") {
            let text = (try? command.errorTextSoFar()) ?? ""
            return !command.isRunning || text.contains("ready to accept")
        }
        guard command.isRunning else {
            throw TestError(description: "PostgreSQL ended at once: \(try command.errorTextSoFar())")
        }
    }

    // MARK: Faults

    /// The server's processes, its first one last.
    private var processes: [ProcessStatus] {
        guard let process else { return [] }
        let first = ProcessStatus(processID: process.processID)
        return first.children + [first]
    }

    /// Sends SIGKILL to all of its processes: as if the machine lost power, except that the disk's cache survives.
    public func kill() async throws {
        // The first one is stopped, so that it starts no others.
        process?.send(SIGSTOP)
        let killed = processes
        for process in killed { Glibc.kill(process.processID, SIGKILL) }
        _ = try await process?.result()
        // A server does not start on the shared memory of processes that have not ended.
        try await waitUntil("the end of PostgreSQL's processes") { !killed.contains(where: \.isRunning) }
        let port = port
        try await waitUntil("nothing on port \(port)") { !LoopbackSocket.accepts("127.0.0.1", port: port) }
    }

    /// A port on loopback on which nothing listens.
    public static func freePort() throws -> Int { try LoopbackSocket.freePort() }

    /// Stops all of its processes (SIGSTOP): connections stay open and are not answered.
    public func freeze() {
        process?.send(SIGSTOP)
        for process in processes { Glibc.kill(process.processID, SIGSTOP) }
    }

    public func resume() {
        for process in processes { Glibc.kill(process.processID, SIGCONT) }
    }

    /// Starts it again on its data after `kill`.
    public func startAgain() async throws { try await start() }

    /// Ends it in an orderly way, which ends all sessions, and starts it again.
    public func restart() async throws {
        process?.send(SIGINT)
        _ = try await process?.result()
        try await start()
    }

    /// What it has logged.
    public func log() throws -> String { try process?.errorTextSoFar() ?? "" }

    // MARK: SQL

    /// Runs SQL as the superuser and returns the rows as lines with `|` between values.
    @discardableResult
    public func psql(_ sql: String, database: String = "postgres") async throws -> String {
        let result = try await RunCommand(Self.program("psql"), psqlArguments(sql, database: database)).run()
        guard result.exitCode == 0 else { throw TestError(description: "psql: \(result.errorText)") }
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts psql with SQL whose end the test does not wait for, such as `SELECT pg_sleep(60)`.
    public func startPSQL(_ sql: String, database: String = "postgres") throws -> RunningCommand {
        try RunCommand(Self.program("psql"), psqlArguments(sql, database: database)).start()
    }

    private func psqlArguments(_ sql: String, database: String) -> [String] {
        [
            "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder.path, "-p", "\(port)", "-U", "postgres", "-d",
            database, "-c", sql,
        ]
    }

    // MARK: Programs and the user

    private static let chosenFolder = ProcessInfo.processInfo.environment["ATTACHPREP_POSTGRES_BIN"]

    /// Where another version has its libpq: the one for standbys searches the system's otherwise.
    private static let libraries: [String: String?] =
        chosenFolder.map { ["LD_LIBRARY_PATH": "\($0)/../lib"] } ?? [:]

    /// The newest installed version; `ATTACHPREP_POSTGRES_BIN` is the folder of another one.
    static let programFolder: String = {
        if let chosenFolder { return chosenFolder }
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
        return "\(root)/\(versions.max().map(String.init) ?? "15")/bin"
    }()

    public static func program(_ name: String) -> String { "\(programFolder)/\(name)" }

    /// The user that runs servers; nil for the tests' own.
    private static let user: (name: String, userID: uid_t, groupID: gid_t)? = {
        guard geteuid() == 0 else { return nil }
        for name in ["postgres", "nobody"] {
            if let entry = getpwnam(name) { return (name, entry.pointee.pw_uid, entry.pointee.pw_gid) }
        }
        return nil
    }()

    /// The beginning of a command line that runs a program as that user.
    static let asUser: [String] =
        user.map { ["setpriv", "--reuid=\($0.userID)", "--regid=\($0.groupID)", "--clear-groups", "--"] } ?? ["env"]

    private static func giveToUser(_ path: String) {
        if let user { chown(path, user.userID, user.groupID) }
    }

    static func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        giveToUser(folder.path)
        return folder
    }

    /// The data of a new server, made once by the first test.
    private static let template = Result {
        let folder = try makeFolder()
        try checked(
            RunCommand(
                asUser[0],
                asUser.dropFirst() + [
                    program("initdb"), "-D", folder.path("data"), "-U", "postgres", "-A", "trust", "-E", "UTF8",
                    "--locale=C.UTF-8", "--no-sync", "--no-instructions",
                ], folder: folder.path
            ).runBlocking())
        return folder
    }

    private static func run(_ command: [String]) async throws {
        try checked(try await RunCommand(command[0], Array(command.dropFirst()), folder: "/").run())
    }

    private static func checked(_ result: CommandResult) throws {
        guard result.exitCode == 0 else {
            throw TestError(description: "`make deps-test` installs PostgreSQL: \(result.errorText)")
        }
    }
}
