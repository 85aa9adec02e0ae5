/// What SQLite and PostgreSQL spell differently; all other SQL of the store is the same text for both.
///
/// Parameters are `$1`, `$2`, … in both: SQLite's driver binds them by number. Times are milliseconds in `bigint`,
/// truth values 0 and 1, JSON is text that is only stored and returned. Text compares by bytes: SQLite's default, and
/// `COLLATE "C"` on each column in PostgreSQL.
public enum SQLDialect: Sendable, Hashable {
    case sqlite
    case postgres

    /// The condition that a column is in the list of a parameter (`SQLValue.texts`): a JSON array for `json_each`, or a
    /// `text[]`.
    public func isAmong(_ column: String, _ parameter: Int) -> String {
        switch self {
        case .sqlite: "\(column) IN (SELECT value FROM json_each($\(parameter)))"
        case .postgres: "\(column) = ANY(CAST($\(parameter) AS text[]))"
        }
    }

    /// A table `name` with one column, `value`: the list of a parameter.
    public func list(_ parameter: Int, as name: String) -> String {
        switch self {
        case .sqlite: "json_each($\(parameter)) AS \(name)"
        case .postgres: "unnest(CAST($\(parameter) AS text[])) AS \(name) (value)"
        }
    }

    /// The smaller of two numbers that are not NULL.
    public func least(_ a: String, _ b: String) -> String {
        self == .sqlite ? "min(\(a), \(b))" : "least(\(a), \(b))"
    }

    /// The larger of two numbers that are not NULL.
    public func greatest(_ a: String, _ b: String) -> String {
        self == .sqlite ? "max(\(a), \(b))" : "greatest(\(a), \(b))"
    }

    /// The host in the column `host`, which begins with the caller and a space (`JobSubmission.hostGroup`).
    public var hostOfGroup: String {
        self == .sqlite ? "substr(host, instr(host, ' ') + 1)" : "split_part(host, ' ', 2)"
    }

    /// Names the index of a query, for SQLite's planner, which has no statistics of these tables.
    public func using(_ index: String) -> String { self == .sqlite ? "INDEXED BY \(index)" : "" }

    /// Locks the rows of a query until the transaction ends; SQLite's transactions are alone anyway.
    public var forUpdate: String { self == .sqlite ? "" : "FOR UPDATE" }

    /// Whether a table exists: one row or none.
    public func existence(of table: String) -> SQLStatement {
        switch self {
        case .sqlite: SQLStatement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", [.text(table)])
        case .postgres:
            SQLStatement(
                "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = $1",
                [.text(table)])
        }
    }

    /// A column definition list in the types of the database: `text`, `bigint`, `blob` and `identity` are replaced.
    public func definition(_ sql: String) -> String {
        let identity =
            self == .sqlite ? "INTEGER PRIMARY KEY AUTOINCREMENT" : "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        let named = sql.replacing("identity", with: identity)
        return self == .sqlite
            ? named : named.replacing(" text", with: " text COLLATE \"C\"").replacing(" blob", with: " bytea")
    }
}
