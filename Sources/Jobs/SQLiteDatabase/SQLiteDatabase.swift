package import AttachPrepJobs
import FoundationEssentials
package import GRDB
import MediaTypes
public import SQLStore

/// A SQLite database in a file of this machine (GRDB): one writer, concurrent readers, write-ahead log.
public final class SQLiteDatabase: SQLDatabase {
    /// How long a change waits for another process's lock.
    static let busySeconds = 5.0

    package let pool: DatabasePool
    private let lock: FolderLock?

    public var dialect: SQLDialect { .sqlite }
    /// No messages: a process hears of its own changes only.
    public let notifications = AsyncStream<SQLNotification> { $0.finish() }
    /// Always nil: SQLite has no connection state, each call reports its own error.
    public var unavailableReason: String? { nil }

    /// Opens a database, which is created when the file is empty.
    ///
    /// - Parameters:
    ///   - durability: `always` flushes each commit to the disk.
    ///   - lock: held until the database is closed; nil for a command. The pages of a locked database are checked.
    /// - Throws: `queue.unavailable`, which names the file and the remedy. A damaged file, or one of another program or
    ///   of a newer version, is not changed.
    package init(path: String, durability: StoreDurability, lock: FolderLock?) throws {
        self.lock = lock
        try DatabaseCheck(path: path, isThorough: lock != nil).run()
        do {
            pool = try DatabasePool(path: path, configuration: Self.configuration)
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA application_id = \(DatabaseCheck.applicationID)")
                // DatabasePool has set NORMAL.
                if durability == .always { try database.execute(sql: "PRAGMA synchronous = FULL") }
            }
        } catch {
            throw SQLiteErrors.attachPrepError(error)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "attachprep.jobs"
        configuration.busyMode = .timeout(busySeconds)
        configuration.prepareDatabase { database in
            // Overwrite deleted content, so that deleted secrets are not left in the file.
            try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        do {
            return try await pool.read { try body(SQLiteConnection(database: $0)) }
        } catch {
            throw SQLiteErrors.error(error)
        }
    }

    public func transact(
        _ order: TransactionOrder, _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws {
        do {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                pool.asyncWriteWithoutTransaction { database in
                    continuation.resume(
                        with: Result {
                            try database.inTransaction(.immediate) {
                                try body(SQLiteConnection(database: database))
                                return .commit
                            }
                        })
                }
            }
        } catch {
            throw SQLiteErrors.error(error)
        }
    }

    /// Checkpoints and truncates the write-ahead log, which contains pages from before secrets were deleted. Called
    /// once a minute while a service runs and at its orderly end, because SQLite does not do so when the last
    /// connection to close is a reader's.
    public func cleanUp() async throws {
        do {
            try await pool.writeWithoutTransaction { database in
                // A reader that blocks the checkpoint is not an error: do not wait for it; the next call tries again.
                try database.execute(sql: "PRAGMA busy_timeout = 0")
                _ = try? database.checkpoint(.truncate)
                try database.execute(sql: "PRAGMA busy_timeout = \(Int(Self.busySeconds * 1000))")
            }
        } catch {
            throw SQLiteErrors.error(error)
        }
    }

    public func close() async {
        try? await cleanUp()
        try? pool.close()
        lock?.release()
    }
}

/// A connection of GRDB during a call.
private struct SQLiteConnection: SQLConnection {
    let database: Database

    var dialect: SQLDialect { .sqlite }
    var milliseconds: Int64? { nil }

    func notify(_ message: String) {}

    func run(_ statements: [SQLStatement]) throws -> [SQLResult] {
        do {
            return try statements.map { try run($0) }
        } catch {
            throw SQLiteErrors.error(error)
        }
    }

    private func run(_ statement: SQLStatement) throws -> SQLResult {
        let compiled = try database.cachedStatement(sql: Self.numbered(statement.sql))
        try compiled.setArguments(StatementArguments(statement.arguments.map(Self.databaseValue)))
        // Fetches all rows, because a modifying statement has to run to its end.
        let rows = try Row.fetchAll(compiled).map { row in
            SQLRow(row.databaseValues.map(Self.value))
        }
        return SQLResult(rows: rows, changes: compiled.isReadonly ? 0 : database.changesCount)
    }

    /// `$1` is a named parameter in SQLite, and is bound in the order of appearance; `?1` is bound by its number.
    private static func numbered(_ sql: String) -> String {
        var bytes = Array(sql.utf8)
        for index in bytes.indices.dropLast()
        where bytes[index] == UInt8(ascii: "$") && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index + 1]) {
            bytes[index] = UInt8(ascii: "?")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func databaseValue(_ value: SQLValue) throws -> (any DatabaseValueConvertible)? {
        switch value {
        case .null: return nil
        case .integer(let number): return number
        case .text(let text): return text
        case .blob(let bytes): return Data(bytes)
        case .texts(let texts): return try StoredJSON.text(texts)
        }
    }

    private static func value(_ value: DatabaseValue) -> SQLValue {
        switch value.storage {
        case .null: .null
        case .int64(let number): .integer(number)
        // A whole number that another program has stored as a floating-point number.
        case .double(let number): Int64(exactly: number).map(SQLValue.integer) ?? .null
        case .string(let text): .text(text)
        case .blob(let data): .blob(Array(data))
        }
    }
}

public enum SQLiteLibrary {
    /// Its version at run time; nil if it cannot open a database in memory.
    public static var version: String? {
        try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
    }
}
