/// A value of a parameter or a column.
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// Only as a parameter: the list of `SQLDialect.isAmong`.
    case texts([String])

    public init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
    public init(_ value: Int?) { self = value.map { .integer(Int64(clamping: $0)) } ?? .null }
    public init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
}

extension SQLValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(nilLiteral: ()) { self = .null }
}

/// A row with access that tolerates other types: a database that was changed by another program must not end the
/// process.
///
/// A mismatched or missing value reads as nil if optional, else as zero or empty text, which is not a valid id, state
/// or JSON, so the row is skipped as unreadable.
public struct SQLRow: Sendable, Hashable {
    public var values: [SQLValue]

    public init(_ values: [SQLValue]) {
        self.values = values
    }

    public subscript<Value: SQLColumnValue>(_ index: Int) -> Value { self[index] ?? Value.unreadable }

    public subscript<Value: SQLColumnValue>(_ index: Int) -> Value? {
        values.indices.contains(index) ? Value(values[index]) : nil
    }
}

/// The types that columns are read as.
public protocol SQLColumnValue {
    /// The value that a column of another type reads as.
    static var unreadable: Self { get }

    /// Nil for NULL and for values of another type.
    init?(_ value: SQLValue)
}

extension Int64: SQLColumnValue {
    public static let unreadable: Int64 = 0

    public init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }
}

extension Int: SQLColumnValue {
    public static let unreadable = 0

    public init?(_ value: SQLValue) {
        guard let number = Int64(value) else { return nil }
        self = Int(clamping: number)
    }
}

extension Bool: SQLColumnValue {
    public static let unreadable = false

    public init?(_ value: SQLValue) {
        guard let number = Int64(value) else { return nil }
        self = number != 0
    }
}

extension String: SQLColumnValue {
    public static let unreadable = ""

    public init?(_ value: SQLValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }
}

extension [UInt8]: SQLColumnValue {
    public static let unreadable: [UInt8] = []

    public init?(_ value: SQLValue) {
        guard case .blob(let bytes) = value else { return nil }
        self = bytes
    }
}

extension SQLConnection {
    public func rows(_ sql: String, _ arguments: [SQLValue] = []) throws -> [SQLRow] {
        try run([SQLStatement(sql, arguments)])[0].rows
    }

    public func row(_ sql: String, _ arguments: [SQLValue] = []) throws -> SQLRow? { try rows(sql, arguments).first }

    /// Returns the first column of the first row; nil when there is no row or the column is NULL.
    public func number(_ sql: String, _ arguments: [SQLValue] = []) throws -> Int64? { try row(sql, arguments)?[0] }

    /// - Returns: The number of rows that were changed.
    @discardableResult
    public func run(_ sql: String, _ arguments: [SQLValue] = []) throws -> Int {
        try run([SQLStatement(sql, arguments)])[0].changes
    }
}
