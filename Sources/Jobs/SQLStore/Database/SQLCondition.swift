/// A condition of a `WHERE` clause with its arguments.
struct SQLCondition: Sendable {
    private(set) var text: String
    private(set) var arguments: [SQLValue] = []

    init(_ text: String) {
        self.text = text
    }

    /// Adds an argument and returns its parameter.
    mutating func parameter(_ value: SQLValue) -> String {
        arguments.append(value)
        return "$\(arguments.count)"
    }

    mutating func add(_ part: String) { text += " AND \(part)" }

    /// Adds that a column is one of the values.
    mutating func add(_ column: String, among values: [String], _ dialect: SQLDialect) {
        arguments.append(.texts(values))
        add(dialect.isAmong(column, arguments.count))
    }
}
