/// A database that holds the tables of `SQLJobStore`: SQLite on one machine, PostgreSQL on many.
///
/// Bodies are synchronous and run on a thread of the database. They may run more than once, so they must not have
/// effects outside of the database except through their result.
public protocol SQLDatabase: Sendable {
    /// How this database spells what differs.
    var dialect: SQLDialect { get }

    /// Runs queries on the last committed state, concurrently with transactions.
    ///
    /// - Throws: `SQLError`, or what `body` throws.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value

    /// Runs `body` in one transaction and returns after its commit; rolls back when `body` throws.
    ///
    /// Transactions of one `order` of a process run one after the other.
    /// - Throws: `SQLError`, or what `body` throws. `SQLError.Kind.unknownCommit` is thrown only when the connection
    ///   was lost while the commit was being confirmed.
    func transact(
        _ order: TransactionOrder, _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws

    /// Messages that processes sent with `SQLConnection.notify`, this process's own among them; nothing on SQLite.
    ///
    /// `SQLNotification.interrupted` says that earlier ones may be missing. There is one receiver for the stream.
    var notifications: AsyncStream<SQLNotification> { get }

    /// Why the database cannot be reached; nil when the last call reached it.
    var unavailableReason: String? { get }

    /// Removes what deleted rows have left, as far as that is not the server's work. Called once a minute.
    func cleanUp() async throws

    /// Ends all connections. Later calls fail with `SQLError.Kind.unavailable`.
    func close() async
}

extension SQLDatabase {
    public func cleanUp() {}
}

/// With which other transactions a transaction may run at the same time.
public enum TransactionOrder: Sendable, Hashable, CaseIterable {
    /// With any other.
    case parallel
    /// Alone among all `exclusive` transactions of all processes, so that limits by host and work key are exact.
    case exclusive
}

/// A message from another transaction.
public enum SQLNotification: Sendable, Hashable {
    case message(String)
    /// The subscription began, or began again: messages before it were not received.
    case interrupted
    /// Messages are not delivered on this connection (a transaction-pooling PgBouncer), or not at present.
    case unsupported
}

/// A connection during a call of `SQLDatabase.read` or `transact`; it must not leave its body.
public protocol SQLConnection {
    var dialect: SQLDialect { get }

    /// Runs statements in order, in one round trip where the database has one.
    ///
    /// - Returns: One result for each statement.
    /// - Throws: `SQLError`.
    func run(_ statements: [SQLStatement]) throws -> [SQLResult]

    /// The time at which the transaction began by the database's clock, in milliseconds since 1970.
    ///
    /// Nil where only the clock of this machine counts, and in reads.
    var milliseconds: Int64? { get }

    /// Sends a message to all processes when the transaction commits.
    ///
    /// - Parameter message: less than 8,000 bytes (PostgreSQL's NOTIFY).
    func notify(_ message: String) throws
}

/// A statement with parameters `$1`, `$2`, …; a parameter may appear several times and in any order.
public struct SQLStatement: Sendable, Hashable {
    public var sql: String
    public var arguments: [SQLValue]

    public init(_ sql: String, _ arguments: [SQLValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }
}

/// What a statement returned.
public struct SQLResult: Sendable, Hashable {
    public var rows: [SQLRow]
    /// Number of rows that were inserted, changed or deleted; unspecified for queries.
    public var changes: Int

    public init(rows: [SQLRow] = [], changes: Int = 0) {
        self.rows = rows
        self.changes = changes
    }
}

/// Why a database call failed.
public struct SQLError: Error, Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// The database ended this transaction because of a conflict; nothing was changed, and it may be repeated.
        case conflict
        /// The connection was lost before the commit was sent: nothing was changed.
        case disconnected
        /// The connection was lost while the commit was being confirmed.
        case unknownCommit
        /// The database cannot be reached or does not accept changes now; nothing was changed.
        case unavailable
        /// A statement was rejected; nothing was changed.
        case rejected
    }

    public var kind: Kind
    /// A sentence for callers, without text of the database.
    public var message: String
    /// For the log: never parameters, addresses with passwords, or rows.
    public var detail: String

    public init(_ kind: Kind, _ message: String, detail: String) {
        self.kind = kind
        self.message = message
        self.detail = detail
    }
}
