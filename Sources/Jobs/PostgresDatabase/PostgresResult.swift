internal import CPostgres
internal import MediaTypes
internal import SQLStore
internal import SafeArithmetic

extension Limits {
    /// Values of one result: NULLs need few of its bytes but as much memory as other values.
    static let databaseResultValuesMax: CInt = 2_000_000
}

/// Owns a PGresult.
@safe struct PostgresResult: ~Copyable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe PQclear(handle)
    }

    var status: ExecStatusType { unsafe PQresultStatus(handle) }

    /// The command tag, such as `COMMIT` or `INSERT 0 1`.
    var commandTag: String { unsafe Self.text(PQcmdStatus(handle)) }

    /// The error of a statement; nil when the server sent none with an SQLSTATE, as when libpq itself made the result.
    var serverError: ServerError? {
        guard let state = unsafe PQresultErrorField(handle, CPostgres_field_state) else { return nil }
        let message = unsafe PQresultErrorField(handle, CPostgres_field_message)
        return ServerError(
            state: MessageText.excerpt(unsafe Self.text(state), bytesMax: 10),
            text: libraryText(unsafe message.map(Self.text) ?? ""))
    }

    /// libpq's text of an error.
    var errorText: String {
        libraryText(unsafe Self.text(PQresultErrorMessage(handle)))
    }

    /// The rows, and the number of changed rows that the command tag reports; nil when there are too many values.
    var contents: SQLResult? {
        let (rowCount, columns) = (max(0, unsafe PQntuples(handle)), max(0, unsafe PQnfields(handle)))
        guard rowCount.multiplied(clamping: max(1, columns)) <= Limits.databaseResultValuesMax else { return nil }
        let types = (0..<columns).map { ($0, unsafe PQftype(handle, $0)) }
        let rows = (0..<rowCount).map { row in SQLRow(types.map { value(row, column: $0, type: $1) }) }
        return SQLResult(rows: rows, changes: Int(unsafe Self.text(PQcmdTuples(handle))) ?? 0)
    }

    /// Reads a value by the type that the server declared; a value that does not have the form of its type is text.
    private func value(_ row: CInt, column: CInt, type: Oid) -> SQLValue {
        guard unsafe PQgetisnull(handle, row, column) == 0, let start = unsafe PQgetvalue(handle, row, column)
        else { return .null }
        let length = max(0, Int(clamping: unsafe PQgetlength(handle, row, column)))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
        switch type {
        case PostgresParameters.TypeID.bytea: return unsafe Self.blob(start) ?? .blob([])
        case PostgresParameters.TypeID.bool: return .integer(unsafe bytes.first == UInt8(ascii: "t") ? 1 : 0)
        case PostgresParameters.TypeID.int2, PostgresParameters.TypeID.int4, PostgresParameters.TypeID.int8,
            PostgresParameters.TypeID.oid, PostgresParameters.TypeID.numeric:
            let text = unsafe String(decoding: bytes.prefix(Self.digitsMax), as: UTF8.self)
            if let number = Int64(text), length <= Self.digitsMax { return .integer(number) }
        default: break
        }
        return .text(unsafe String(decoding: bytes, as: UTF8.self))
    }

    /// The digits and sign of the longest 64-bit number.
    private static let digitsMax = 20

    /// The bytes of a `bytea` in either of its two text forms; nil when memory is lacking.
    private static func blob(_ text: UnsafePointer<CChar>) -> SQLValue? {
        var count = 0
        let bytes = unsafe text.withMemoryRebound(to: UInt8.self, capacity: 1) { unsafe PQunescapeBytea($0, &count) }
        guard let bytes = unsafe bytes else { return nil }
        defer { unsafe PQfreemem(bytes) }
        return .blob(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
    }

    private static func text(_ string: UnsafePointer<CChar>?) -> String {
        unsafe string.map { unsafe String(cString: $0) } ?? ""
    }

    private static func text(_ string: UnsafeMutablePointer<CChar>) -> String { unsafe String(cString: string) }
}
