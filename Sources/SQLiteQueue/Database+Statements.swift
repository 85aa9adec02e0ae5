import AttachPrepJobs
package import FoundationEssentials
package import GRDB

/// Runs statements, which are compiled once per connection.
extension Database {
    package func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    package func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments).map(StoredRow.init)
    }

    package func row(_ sql: String, _ arguments: StatementArguments = []) throws -> StoredRow? {
        // Fetches all rows, because a modifying statement has to run to its end.
        try rows(sql, arguments).first
    }

    /// Returns the only column of the first row; nil when there is no row or the column is NULL.
    package func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try row(sql, arguments)?[0]
    }
}

/// A row with type-tolerant access. SQLite allows any type in any column, and GRDB's own subscripts end the process on
/// a mismatch; a database that was damaged or changed by another program must not do that.
///
/// A mismatched value reads as nil if optional, else as zero or empty text, which is not a valid id, state or JSON, so
/// the row is skipped as unreadable.
package struct StoredRow {
    private let row: Row

    package init(_ row: Row) {
        self.row = row
    }

    /// Returns all rows of a statement without caching it.
    package static func fetchAll(
        _ database: Database, sql: String, arguments: StatementArguments
    ) throws -> [StoredRow] {
        try Row.fetchAll(database, sql: sql, arguments: arguments).map(StoredRow.init)
    }

    package subscript<Value: StoredValue>(_ index: Int) -> Value { self[index] ?? Value.unreadable }

    package subscript<Value: StoredValue>(_ index: Int) -> Value? {
        Value.fromDatabaseValue(row[index] as DatabaseValue)
    }

    package subscript<Value: StoredValue>(_ column: String) -> Value { self[column] ?? Value.unreadable }

    package subscript<Value: StoredValue>(_ column: String) -> Value? {
        (row[column] as DatabaseValue?).flatMap(Value.fromDatabaseValue)
    }
}

/// The types of column values.
package protocol StoredValue: DatabaseValueConvertible {
    /// The value that a column of another type reads as.
    static var unreadable: Self { get }
}

extension Int: StoredValue { package static let unreadable = 0 }
extension Int64: StoredValue { package static let unreadable: Int64 = 0 }
extension String: StoredValue { package static let unreadable = "" }
extension Bool: StoredValue { package static let unreadable = false }
extension Data: StoredValue { package static let unreadable = Data() }
