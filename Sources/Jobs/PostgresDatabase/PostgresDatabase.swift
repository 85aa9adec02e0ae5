internal import AttachPrepModel
public import Logging
public import SQLStore
internal import Synchronization

/// A PostgreSQL database, which many processes share.
///
/// ```swift
/// let database = try await PostgresDatabase.open(
///     PostgresAddress("postgres://queue@db1,db2/push?sslmode=verify-full"), logger: logger)
/// try await database.transact(.parallel) { try $0.run("INSERT INTO job (id) VALUES ($1)", ["a"]) }
/// ```
///
/// It has up to five connections, each with a thread and opened by its first use: one for each `TransactionOrder`, two
/// for reads, one for notifications.
public final class PostgresDatabase: SQLDatabase {
    public let dialect = SQLDialect.postgres
    public let address: PostgresAddress
    public let schema: PostgresSchema
    public let notifications: AsyncStream<SQLNotification>
    private let settings: PostgresTransaction.Settings
    private let writers: [TransactionOrder: PostgresSession]
    private let readers: [PostgresSession]
    private let listener: PostgresListener
    private let reason = Mutex<String?>(nil)

    private init(
        _ address: PostgresAddress, _ settings: PostgresTransaction.Settings, _ logger: Logger
    ) throws {
        self.address = address
        self.settings = settings
        schema = settings.schema
        writers = try Dictionary(
            uniqueKeysWithValues: TransactionOrder.allCases.map {
                ($0, try PostgresSession(address, settings.timeouts))
            })
        readers = try (0..<2).map { _ in try PostgresSession(address, settings.timeouts) }
        listener = try PostgresListener(address, settings, logger)
        notifications = listener.notifications
    }

    /// Connects.
    ///
    /// - Parameters:
    ///   - schema: the schema of the queue's tables, which need not exist.
    ///   - milliseconds: replaces the server's clock in tests.
    /// - Throws: `AttachPrepError`, code `queue.unavailable`; retryable unless a setting is wrong.
    public static func open(
        _ address: PostgresAddress, schema: PostgresSchema, logger: Logger,
        timeouts: PostgresTimeouts = PostgresTimeouts(), milliseconds: (@Sendable () -> Int64)? = nil
    ) async throws -> PostgresDatabase {
        let settings = PostgresTransaction.Settings(schema: schema, timeouts: timeouts, milliseconds: milliseconds)
        let database = try PostgresDatabase(address, settings, logger)
        do { _ = try await database.writers[.parallel]?.run { $0.facts } } catch let error as PostgresError {
            let meaning = database.note(error.meaning(.open, database: address.description))
            var isRetryable = true
            if case .notConnected(let failure) = error { isRetryable = failure.isRetryable }
            throw AttachPrepError(
                .queueUnavailable, meaning.message, detail: meaning.detail, isRetryable: isRetryable)
        }
        database.listener.start()
        return database
    }

    public var unavailableReason: String? { reason.withLock(\.self) }

    // MARK: Calls

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        // The one that is free, if any.
        let reader = readers[0].load <= readers[1].load ? readers[0] : readers[1]
        return try await call(reader, mode: .read, body)
    }

    public func transact(
        _ order: TransactionOrder, _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws {
        guard let writer = writers[order] else { return }
        try await call(writer, mode: .write(order), body)
    }

    private func call<Value: Sendable>(
        _ session: PostgresSession, mode: PostgresTransaction.Mode,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        do {
            let value = try await session.run { [settings, address] connection in
                let transaction = PostgresTransaction(connection, mode, settings)
                do {
                    let value = try body(transaction)
                    try transaction.finish()
                    return value
                } catch let error as PostgresError {
                    transaction.abandon()
                    throw error.meaning(transaction.phase, database: address.description)
                } catch {
                    transaction.abandon()
                    throw error
                }
            }
            reason.withLock { $0 = nil }
            return value
        } catch let error as PostgresError {
            throw note(error.meaning(.open, database: address.description))
        } catch let error as SQLError {
            throw note(error)
        }
    }

    /// Remembers why the database cannot be reached, or that it can.
    private func note(_ error: SQLError) -> SQLError {
        reason.withLock { reason in
            switch error.kind {
            case .unavailable, .disconnected, .unknownCommit: reason = error.message
            case .conflict, .rejected: reason = nil
            }
        }
        return error
    }

    /// Facts of a connection for reads.
    func connectionFacts() async throws -> PostgresConnection.Facts {
        do { return try await readers[0].run { $0.facts } } catch let error as PostgresError {
            throw note(error.meaning(.open, database: address.description))
        }
    }

    deinit {
        listener.stop()
    }

    public func close() async {
        listener.stop()
        for session in writers.values { await session.close() }
        for session in readers { await session.close() }
    }

    // MARK: The schema

    /// Creates the schema unless it exists; a role that may not create it works with one that exists.
    ///
    /// - Throws: `SQLError`.
    public func ensureSchema() async throws {
        let schema = schema
        try await transact(.exclusive) { connection in
            let exists = try connection.row(
                "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [.text(schema.name)])
            if exists == nil { try connection.run("CREATE SCHEMA \(schema.quoted)") }
        }
    }
}
