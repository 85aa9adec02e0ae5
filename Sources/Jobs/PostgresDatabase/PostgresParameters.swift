internal import CPostgres
internal import SQLStore

/// The parameters of a statement as libpq takes them: types by number, numbers and text as text, bytes as they are.
struct PostgresParameters {
    /// Object ids of types, which no PostgreSQL has changed: src/include/catalog/pg_type.dat.
    enum TypeID {
        static let bool: Oid = 16
        static let bytea: Oid = 17
        static let int8: Oid = 20
        static let int2: Oid = 21
        static let int4: Oid = 23
        static let text: Oid = 25
        static let oid: Oid = 26
        static let textArray: Oid = 1009
        static let numeric: Oid = 1700
    }

    /// Parameters that one message can have (PQ_QUERY_PARAM_MAX_LIMIT).
    static let countMax = 65_535

    private(set) var types: [Oid] = []
    private(set) var formats: [CInt] = []
    private(set) var lengths: [CInt] = []
    /// The start of each value in `bytes`; nil for NULL.
    private var offsets: [Int?] = []
    private var bytes: [UInt8] = []

    init(_ values: [SQLValue]) {
        for value in values { append(value) }
    }

    private mutating func append(_ value: SQLValue) {
        switch value {
        case .null: append([], type: 0, isNull: true)
        case .integer(let number): append("\(number)".utf8, type: TypeID.int8)
        case .text(let text): append(text.utf8.lazy.flatMap(Self.withoutNUL), type: TypeID.text)
        case .blob(let blob): append(blob, type: TypeID.bytea, isBinary: true)
        case .texts(let texts): append(Self.arrayLiteral(texts), type: TypeID.textArray)
        }
    }

    private mutating func append(
        _ value: some Sequence<UInt8>, type: Oid, isBinary: Bool = false, isNull: Bool = false
    ) {
        offsets.append(isNull ? nil : bytes.count)
        let start = bytes.count
        bytes.append(contentsOf: value)
        types.append(type)
        formats.append(isBinary ? 1 : 0)
        lengths.append(CInt(clamping: bytes.count - start))
        bytes.append(0)
    }

    /// PostgreSQL's text has no NUL; U+FFFD replaces it.
    private static func withoutNUL(_ byte: UInt8) -> [UInt8] { byte == 0 ? [0xEF, 0xBF, 0xBD] : [byte] }

    /// `{"a","b \" \\"}`: every element quoted, with a backslash before quotes and backslashes.
    static func arrayLiteral(_ texts: [String]) -> [UInt8] {
        var literal = [UInt8(ascii: "{")]
        for (index, text) in texts.enumerated() {
            if index > 0 { literal.append(UInt8(ascii: ",")) }
            literal.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { literal.append(UInt8(ascii: "\\")) }
                literal.append(contentsOf: withoutNUL(byte))
            }
            literal.append(UInt8(ascii: "\""))
        }
        literal.append(UInt8(ascii: "}"))
        return literal
    }

    /// Calls `body` with one pointer a value, nil for NULL; the pointers are valid during the call.
    func withPointers<Value>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value) -> Value {
        unsafe bytes.withUnsafeBytes { buffer in
            let start = unsafe buffer.assumingMemoryBound(to: CChar.self).baseAddress
            let pointers = unsafe offsets.map { offset in unsafe offset.flatMap { unsafe start?.advanced(by: $0) } }
            return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
    }
}
