import GRDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Statements are compiled once for each connection.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments).map(StoredRow.init)
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> StoredRow? {
        // All of them: a statement that changes something has to come to its end.
        try rows(sql, arguments).first
    }

    /// The only column of the first row; nil when there is none, or it is NULL.
    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try row(sql, arguments)?[0]
    }
}

/// A row as it was found. SQLite lets any column hold a value of any type, and GRDB's own subscripts end the process on
/// one that does not fit: a damaged database, or another program's change, must not.
///
/// What does not fit reads as nil where that can be, else as zero or as empty text, which is no name, state or JSON to
/// anybody: the row is passed over as one that cannot be read.
struct StoredRow {
    private let row: Row

    init(_ row: Row) {
        self.row = row
    }

    /// All rows of a statement that is compiled anew.
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

/// What columns hold.
protocol StoredValue: DatabaseValueConvertible {
    /// What a value of another type reads as.
    static var unreadable: Self { get }
}

extension Int: StoredValue { static let unreadable = 0 }
extension Int64: StoredValue { static let unreadable: Int64 = 0 }
extension String: StoredValue { static let unreadable = "" }
extension Bool: StoredValue { static let unreadable = false }
extension Data: StoredValue { static let unreadable = Data() }
