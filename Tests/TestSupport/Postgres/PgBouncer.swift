import Foundation

/// A real PgBouncer in transaction mode before a PostgreSQL server; killed with the last reference.
public final class PgBouncer: Sendable {
    public let port: Int
    private let folder: TemporaryFolder
    private let command: RunningCommand

    deinit {
        command.send(SIGKILL)
    }

    private init(port: Int, folder: TemporaryFolder, command: RunningCommand) {
        self.port = port
        self.folder = folder
        self.command = command
    }

    public var url: String { "postgres://postgres@127.0.0.1:\(port)/postgres" }

    /// - Parameter size: connections to the server.
    public static func start(before server: PostgresServer, size: Int = 4) async throws -> PgBouncer {
        let folder = try PostgresServer.makeFolder()
        let port = try LoopbackSocket.freePort()
        try folder.write("\"postgres\" \"\"\n", to: "users")
        try folder.write(
            """
            [databases]
            * = host=127.0.0.1 port=\(server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(folder.path("users"))
            pool_mode = transaction
            default_pool_size = \(size)

            """, to: "pgbouncer.ini")
        let user = PostgresServer.asUser
        let command = try RunCommand(
            user[0], user.dropFirst() + ["/usr/sbin/pgbouncer", folder.path("pgbouncer.ini")], folder: folder.path,
            timeoutSeconds: 3_600
        ).start()
        try await waitUntil("PgBouncer on port \(port)") {
            !command.isRunning || LoopbackSocket.accepts("127.0.0.1", port: port)
        }
        guard command.isRunning else {
            throw TestError(description: "`make deps-test` installs PgBouncer: \(try command.errorTextSoFar())")
        }
        return PgBouncer(port: port, folder: folder, command: command)
    }
}
