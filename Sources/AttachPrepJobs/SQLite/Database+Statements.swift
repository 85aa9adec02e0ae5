import GRDB

/// Statements are compiled once for each connection.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        // All of them: a statement that changes something has to come to its end.
        try rows(sql, arguments).first
    }

    /// The only column of the first row; nil when there is none, or it is NULL.
    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try row(sql, arguments)?[0]
    }
}
