internal import SQLStore

/// One transaction on a connection, begun together with its first statements.
final class PostgresTransaction: SQLConnection {
    enum Mode: Hashable {
        case read
        case write(TransactionOrder)
    }

    /// What is the same for all transactions of a database.
    struct Settings: Sendable {
        var schema: PostgresSchema
        var timeouts: PostgresTimeouts
        /// Replaces the server's clock in tests.
        var milliseconds: (@Sendable () -> Int64)?
    }

    let dialect = SQLDialect.postgres
    private let connection: PostgresConnection
    private let mode: Mode
    private let settings: Settings
    private var messages: [String] = []
    private var hasBegun = false
    private var beganAt: Int64?
    /// Set when the transaction cannot go on.
    private var failure: (any Error)?
    private(set) var phase = PostgresError.Phase.open

    init(_ connection: PostgresConnection, _ mode: Mode, _ settings: Settings) {
        self.connection = connection
        self.mode = mode
        self.settings = settings
    }

    // MARK: For the body

    func run(_ statements: [SQLStatement]) throws -> [SQLResult] {
        try perform(statements).map(\.result)
    }

    /// Begins the transaction, which is a round trip, unless statements have already been run.
    var milliseconds: Int64? {
        guard mode != .read else { return settings.milliseconds?() }
        if !hasBegun { _ = try? perform([]) }
        return beganAt
    }

    func notify(_ message: String) throws {
        guard message.utf8.count < Self.messageBytesEnd else {
            throw SQLError(
                .rejected, "A notification is longer than PostgreSQL takes.",
                detail: "\(message.utf8.count) bytes, at most \(Self.messageBytesEnd - 1)")
        }
        messages.append(message)
    }

    /// NOTIFY takes fewer bytes than this (NOTIFY_PAYLOAD_MAX_LENGTH).
    private static let messageBytesEnd = 8_000

    /// Runs statements, after those that begin the transaction if they are the first.
    private func perform(_ statements: [SQLStatement]) throws -> [PostgresConnection.Outcome] {
        if let failure { throw failure }
        do {
            let opening = hasBegun ? [] : opening
            hasBegun = true
            let outcomes = try connection.run(opening + statements, within: settings.timeouts.roundTrip)
            if !opening.isEmpty, mode != .read {
                beganAt = settings.milliseconds?() ?? outcomes[opening.count - 1].result.rows.first?[0]
            }
            return Array(outcomes[opening.count...])
        } catch {
            failure = error
            throw error
        }
    }

    // MARK: Beginning

    private var opening: [SQLStatement] {
        switch mode {
        case .read:
            // One snapshot for all statements of the body, as SQLite has it.
            [SQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), limits]
        case .write(let order):
            // READ COMMITTED: a statement sees what was committed before it began, so after the lock was taken.
            [SQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED"), limits]
                + (order == .exclusive ? [lock] : []) + [Self.clock]
        }
    }

    /// Settings of this transaction only: behind a PgBouncer, the next one may be on another connection to the server.
    private var limits: SQLStatement {
        let values: [(name: String, value: String)] = [
            ("search_path", settings.schema.quoted), ("lock_timeout", Self.setting(settings.timeouts.lock)),
            ("statement_timeout", Self.setting(settings.timeouts.statement)),
            ("idle_in_transaction_session_timeout", Self.setting(settings.timeouts.idleInTransaction)),
        ]
        let calls = values.indices.map { "pg_catalog.set_config('\(values[$0].name)', $\($0 + 1), true)" }
        return SQLStatement("SELECT \(calls.joined(separator: ", "))", values.map { .text($0.value) })
    }

    private static func setting(_ duration: Duration) -> String { "\(max(1, duration.milliseconds))ms" }

    /// A statement of its own: a statement that takes the lock has chosen its snapshot before it got the lock.
    private var lock: SQLStatement {
        SQLStatement("SELECT pg_catalog.pg_advisory_xact_lock($1)", [.integer(settings.schema.lockKey)])
    }

    private static let clock = SQLStatement(
        "SELECT CAST(floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000) AS bigint)")

    // MARK: Ending

    /// Commits a transaction whose body has succeeded; a read only sends the end.
    func finish() throws {
        if let failure { throw failure }
        if mode == .read {
            if hasBegun { try connection.runLater([SQLStatement("COMMIT")]) }
            return
        }
        if !hasBegun {
            if messages.isEmpty { return }
            _ = try perform([])
        }
        // A canceled COMMIT reports success without having waited for the synchronous standby.
        let unlimited = SQLStatement("SELECT pg_catalog.set_config('statement_timeout', '0', true)")
        let ending = [unlimited] + messages.map(notification) + [SQLStatement("COMMIT")]
        _ = connection.takeWarning()
        // What was lost before COMMIT is sent is known to have changed nothing.
        if connection.isClosedByServer(within: settings.timeouts.roundTrip) {
            connection.end()
            throw PostgresError.lost("the server closed the connection during the transaction", nil)
        }
        phase = .committing
        let outcomes = try connection.run(ending, within: settings.timeouts.roundTrip)
        guard outcomes.last?.tag == "COMMIT" else {
            throw PostgresError.server(ServerError(state: "25P02", text: "COMMIT was answered with ROLLBACK"))
        }
        if connection.takeWarning() {
            throw PostgresError.lost("the wait for the synchronous standby was canceled on the server", nil)
        }
    }

    private func notification(_ message: String) -> SQLStatement {
        SQLStatement("SELECT pg_catalog.pg_notify($1, $2)", [.text(settings.schema.channel), .text(message)])
    }

    /// Ends a transaction whose body has failed.
    func abandon() {
        guard hasBegun, connection.isUsable else { return }
        do { try connection.runLater([SQLStatement("ROLLBACK")]) } catch { connection.end() }
    }
}
