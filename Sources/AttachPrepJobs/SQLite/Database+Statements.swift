import FoundationEssentials
import GRDB

/// Runs statements, which are compiled once per connection.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments).map(StoredRow.init)
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> StoredRow? {
        // Fetches all rows, because a modifying statement has to run to its end.
        try rows(sql, arguments).first
    }

    /// Returns the only column of the first row; nil when there is no row or the column is NULL.
    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try row(sql, arguments)?[0]
    }
}

/// A row with type-tolerant access. SQLite allows any type in any column, and GRDB's own subscripts end the process on
/// a mismatch; a database that was damaged or changed by another program must not do that.
///
/// A mismatched value reads as nil if optional, else as zero or empty text, which is not a valid id, state or JSON, so
/// the row is skipped as unreadable.
struct StoredRow {
    private let row: Row

    init(_ row: Row) {
        self.row = row
    }

    /// Returns all rows of a statement without caching it.
    static func fetchAll(
        _ database: Database, sql: String, arguments: StatementArguments
    ) throws -> [StoredRow] {
        try Row.fetchAll(database, sql: sql, arguments: arguments).map(StoredRow.init)
    }

    subscript<Value: StoredValue>(_ index: Int) -> Value { self[index] ?? Value.unreadable }

    subscript<Value: StoredValue>(_ index: Int) -> Value? {
        Value.fromDatabaseValue(row[index] as DatabaseValue)
    }

    subscript<Value: StoredValue>(_ column: String) -> Value { self[column] ?? Value.unreadable }

    subscript<Value: StoredValue>(_ column: String) -> Value? {
        (row[column] as DatabaseValue?).flatMap(Value.fromDatabaseValue)
    }
}

/// The types of column values.
protocol StoredValue: DatabaseValueConvertible {
    /// The value that a column of another type reads as.
    static var unreadable: Self { get }
}

extension Int: StoredValue { static let unreadable = 0 }
extension Int64: StoredValue { static let unreadable: Int64 = 0 }
extension String: StoredValue { static let unreadable = "" }
extension Bool: StoredValue { static let unreadable = false }
extension Data: StoredValue { static let unreadable = Data() }
