internal import SafeArithmetic

/// Parses one JSON text strictly by RFC 8259, in one pass, to a depth of at most `payloadDepthMax`.
package struct JSONParser {
    package let bytes: [UInt8]
    package var position = 0
    /// Where the text's first value ends; nil while it was not parsed to its end.
    package private(set) var valueEnd: Int?
    private var depth = 0
    private let location: JSONErrorLocation

    /// - Parameters:
    ///   - subject: what messages call the text.
    ///   - firstLine: the number of the text's first line in messages, for one that is part of another.
    package init(_ bytes: [UInt8], subject: String = "The payload", firstLine: Int = 1) {
        self.bytes = bytes
        location = JSONErrorLocation(bytes: bytes, subject: subject, firstLine: firstLine)
    }

    /// Parses the text, which must contain exactly one value.
    package mutating func top() throws(PayloadError) -> JSONNode {
        try rejectByteOrderMark()
        skipWhitespace()
        guard position < bytes.count else {
            throw syntaxError("is empty", remedy: "send a JSON object")
        }
        let node = try value()
        valueEnd = position
        skipWhitespace()
        guard position == bytes.count else {
            throw isComment ? comment() : syntaxError("has data after its end", remedy: "send exactly one value")
        }
        return node
    }

    private func rejectByteOrderMark() throws(PayloadError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw syntaxError("has a byte order mark", remedy: "save it as UTF-8 without one")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw syntaxError("is UTF-16, by the byte order mark", remedy: "save it as UTF-8 without one")
        }
    }

    private mutating func value() throws(PayloadError) -> JSONNode {
        let start = position
        let content: JSONNode.Content =
            switch next {
            case UInt8(ascii: "{"): try object()
            case UInt8(ascii: "["): try array()
            case UInt8(ascii: "\""): .string(try string())
            case let byte? where byte == UInt8(ascii: "-") || isDigit(byte): .number(try number())
            default: try literal()
            }
        return JSONNode(range: start..<position, content: content)
    }

    private mutating func object() throws(PayloadError) -> JSONNode.Content {
        try begin()
        defer { depth -= 1 }
        return .object(try members())
    }

    private mutating func array() throws(PayloadError) -> JSONNode.Content {
        try begin()
        defer { depth -= 1 }
        return .array(try elements())
    }

    /// Skips an opening bracket and enters a level.
    private mutating func begin() throws(PayloadError) {
        guard depth < Limits.payloadDepthMax else {
            throw syntaxError("is nested more than \(Limits.payloadDepthMax) levels deep", remedy: "flatten it")
        }
        depth += 1
        position += 1
        skipWhitespace()
    }

    private mutating func members() throws(PayloadError) -> [JSONNodeMember] {
        var members: [JSONNodeMember] = []
        var keys: Set<String> = []
        if end(UInt8(ascii: "}")) { return members }
        repeat {
            let start = position
            let key = try self.key(after: members.isEmpty ? "{" : ",")
            guard keys.insert(key).inserted else {
                throw location.error(
                    "has the key \(PrintableText.quoted(key)) twice in one object", at: start,
                    remedy: "parsers differ on which one counts, so keep one")
            }
            let keyRange = start..<position
            try colon()
            members.append(JSONNodeMember(key: key, keyRange: keyRange, node: try value()))
        } while try continues(to: UInt8(ascii: "}"))
        return members
    }

    private mutating func elements() throws(PayloadError) -> [JSONNode] {
        var elements: [JSONNode] = []
        if end(UInt8(ascii: "]")) { return elements }
        repeat {
            if next == UInt8(ascii: "]") { throw syntaxError("has a comma before ]", remedy: "remove the comma") }
            elements.append(try value())
        } while try continues(to: UInt8(ascii: "]"))
        return elements
    }

    private mutating func key(after before: String) throws(PayloadError) -> String {
        switch next {
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "}"): throw syntaxError("has a comma before }", remedy: "remove the comma")
        case UInt8(ascii: "'"): throw syntaxError("has a key in single quotes", remedy: "use double quotes")
        case nil: throw cutOff()
        case _ where isComment: throw comment()
        case _ where isCurlyQuote: throw curlyQuote()
        default: throw syntaxError("has no key after \(before)", remedy: "write keys in double quotes")
        }
    }

    private mutating func colon() throws(PayloadError) {
        skipWhitespace()
        guard next == UInt8(ascii: ":") else {
            throw position < bytes.count
                ? syntaxError("has a key without a colon", remedy: "write a colon and a value") : cutOff()
        }
        position += 1
        skipWhitespace()
    }

    /// Skips a closing bracket; false when another byte follows.
    private mutating func end(_ bracket: UInt8) -> Bool {
        guard next == bracket else { return false }
        position += 1
        return true
    }

    /// Skips a comma or the closing bracket; true after a comma, throws for anything else.
    private mutating func continues(to bracket: UInt8) throws(PayloadError) -> Bool {
        skipWhitespace()
        if end(bracket) { return false }
        guard next == UInt8(ascii: ",") else {
            if position == bytes.count { throw cutOff() }
            let closing = Character(Unicode.Scalar(bracket))
            throw isComment ? comment() : syntaxError("has neither a comma nor \(closing)", remedy: "write one of them")
        }
        position += 1
        skipWhitespace()
        return true
    }
}

extension JSONParser {
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    package static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }

    mutating func skipWhitespace() {
        while let byte = next, Self.isWhitespace(byte) { position += 1 }
    }

    func syntaxError(_ what: String, remedy: String) -> PayloadError {
        location.error(what, at: position, remedy: remedy)
    }

    func cutOff() -> PayloadError {
        location.error("is truncated", at: bytes.count, remedy: "send all of it")
    }

    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    var isComment: Bool { next == UInt8(ascii: "/") || next == UInt8(ascii: "#") }

    func comment() -> PayloadError {
        syntaxError("has a comment", remedy: "remove it, since JSON has no comments")
    }

    /// One of U+2018 to U+201F, which editors make of quotes.
    var isCurlyQuote: Bool {
        let bytes = bytes[position...].prefix(3)
        return bytes.starts(with: [0xE2, 0x80]) && bytes.last.map { 0x98...0x9F ~= $0 } == true
    }

    func curlyQuote() -> PayloadError { syntaxError("has a curly quote", remedy: "use straight double quotes") }
}

/// Parsing of literals, numbers and strings.
// Bounded throughout: positions within bytes in memory, and counts of them.
extension JSONParser {
    /// Parses `true`, `false` or `null`.
    mutating func literal() throws(PayloadError) -> JSONNode.Content {
        let start = position
        while let byte = next, isLetter(byte) { position += 1 }
        let literal = String(decoding: bytes[start..<position], as: UTF8.self)
        switch literal {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default:
            position = start
            throw unknown(literal)
        }
    }

    private func unknown(_ literal: String) -> PayloadError {
        switch next {
        case nil: return cutOff()
        case UInt8(ascii: "'"): return syntaxError("has a string in single quotes", remedy: "use double quotes")
        case UInt8(ascii: "+"), UInt8(ascii: "."):
            return syntaxError("has a number without a first digit", remedy: "write it as in 0.5")
        case _ where isComment: return comment()
        case _ where isCurlyQuote: return curlyQuote()
        default:
            let what = literal.isEmpty ? "has no value" : "has the word \(PrintableText.quoted(literal))"
            return syntaxError(what, remedy: Self.remedy(for: literal))
        }
    }

    /// What to write instead of a word, also of those that other languages have for a value.
    private static func remedy(for literal: String) -> String {
        switch literal {
        case "True": "write true"
        case "False": "write false"
        case "None", "nil", "undefined": "write null"
        case "NaN", "Infinity": "write a number, since JSON has no such value"
        default: "write a string, a number, an object, an array, true, false or null"
        }
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Parses a number and returns it as written.
    mutating func number() throws(PayloadError) -> String {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let isZero = next == UInt8(ascii: "0")
        guard digits() > 0 else { throw syntaxError("has a minus without a number", remedy: "write digits after it") }
        let firstDigit = bytes[start] == UInt8(ascii: "-") ? start + 1 : start
        if isZero, position > firstDigit + 1 {
            position = start
            throw syntaxError("has a number with a leading zero", remedy: "remove the zero, or write a string")
        }
        if next == UInt8(ascii: ".") {
            position += 1
            guard digits() > 0 else {
                throw syntaxError("has a number that ends with a decimal point", remedy: "write digits after it")
            }
        }
        if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            guard digits() > 0 else {
                throw syntaxError("has a number with an empty exponent", remedy: "write digits after the e")
            }
        }
        guard position - start <= Limits.payloadNumberBytesMax else {
            position = start
            throw syntaxError(
                "has a number of more than \(Limits.payloadNumberBytesMax) characters", remedy: "write it as a string")
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, isDigit(byte) { position += 1 }
        return position - start
    }

    /// Parses and decodes a string; validates its UTF-8 and escapes.
    mutating func string() throws(PayloadError) -> String {
        let start = position
        position += 1
        var isEscaped = false
        while let byte = next, byte != UInt8(ascii: "\"") {
            switch byte {
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape()
            case 0x00..<0x20:
                throw syntaxError(
                    "has a control character (U+\(hexadecimal(byte))) in a string",
                    remedy: "write it as \(String(decoding: JSONEscaping.escaped(byte), as: UTF8.self))")
            case 0x20..<0x80: position += 1
            default: try character()
            }
        }
        guard next != nil else {
            throw location.error(
                "has an unterminated string", at: start, remedy: "close it with a quote")
        }
        position += 1
        let content =
            isEscaped ? JSONStringToken(bytes, start..<position).content[...] : bytes[start + 1..<position - 1]
        guard content.count <= CombiningMarks.runMax || CombiningMarks.areBounded(in: content) else {
            throw location.error(
                "has a string with more than \(CombiningMarks.runMax) combining marks on one character", at: start,
                remedy: "remove them")
        }
        return String(decoding: content, as: UTF8.self)
    }

    private func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "000" : "00") + String(byte, radix: 16) }

    private mutating func escape() throws(PayloadError) {
        guard position + 1 < bytes.count else { throw cutOff() }
        guard bytes[position + 1] == UInt8(ascii: "u") else {
            guard JSONEscaping.meaning(ofEscape: bytes[position + 1]) != nil else {
                throw syntaxError("has an invalid escape", remedy: #"write a backslash itself as \\"#)
            }
            position += 2
            return
        }
        guard let unit = JSONEscaping.codeUnit(bytes, at: position) else {
            throw syntaxError(#"has a \u without four hexadecimal digits"#, remedy: #"write a backslash itself as \\"#)
        }
        let isPair =
            UTF16.isLeadSurrogate(unit)
            && JSONEscaping.codeUnit(bytes, at: position + 6).map(UTF16.isTrailSurrogate) == true
        guard isPair || !UTF16.isSurrogate(unit) else {
            throw syntaxError(
                #"has half of a surrogate pair (\u\#(String(unit, radix: 16)))"#,
                remedy: "write both halves, or the character itself")
        }
        position += isPair ? 12 : 6
    }

    /// Skips one character of several bytes; rejects overlong forms, surrogates and values above U+10FFFF.
    private mutating func character() throws(PayloadError) {
        let lead = bytes[position]
        let (count, second): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0...0)
            }
        let end = position + count
        guard count > 0, end <= bytes.count, second.contains(bytes[position + 1]),
            bytes[position + 2..<max(end, position + 2)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { throw syntaxError("has a byte that is not UTF-8", remedy: "save it as UTF-8") }
        position = end
    }
}

extension UTF16 {
    static func isSurrogate(_ unit: UInt16) -> Bool { unit & 0xF800 == 0xD800 }
}

// Bounded throughout: positions within bytes in memory, and counts of them.
/// Creates error messages with line and column of a JSON text.
package struct JSONErrorLocation {
    package let bytes: [UInt8]
    private let subject: String
    private let firstLine: Int

    package init(bytes: [UInt8], subject: String = "The payload", firstLine: Int = 1) {
        (self.bytes, self.subject, self.firstLine) = (bytes, subject, firstLine)
    }

    /// The error `payload.invalid` with the message "The payload `what` at line …, column …; `remedy`."
    package func error(_ what: String, at offset: Int, remedy: String) -> PayloadError {
        let (line, column) = position(of: offset)
        return PayloadError(
            .payloadInvalid,
            "\(subject) \(what) at line \(line + firstLine - 1), column \(column); \(remedy).")
    }

    /// Line and column, from 1. Columns count Unicode scalars; a tab counts as one.
    package func position(of offset: Int) -> (line: Int, column: Int) {
        var (line, column) = (1, 1)
        for index in 0..<min(offset, bytes.count) {
            let isPairsFirst =
                bytes[index] == UInt8(ascii: "\r") && index + 1 < bytes.count
                && bytes[index + 1] == UInt8(ascii: "\n")
            switch bytes[index] {
            case UInt8(ascii: "\r") where isPairsFirst: continue
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): (line, column) = (line + 1, 1)
            // UTF-8 continuation bytes.
            case 0x80...0xBF: continue
            default: column += 1
            }
        }
        return (line, column)
    }
}

extension PayloadValue {
    /// Parses a JSON text with any value at the top, such as JSON inside a string.
    ///
    /// Throws `PayloadError` with code `invalid`, with line and column in this text.
    public init(json bytes: [UInt8]) throws(PayloadError) {
        var parser = JSONParser(bytes)
        self = try parser.top().value
    }
}

extension Limits {
    /// Nesting depth of objects and arrays; APNs payloads have a handful.
    package static let payloadDepthMax = 64
    /// Characters of a number; a 64-bit one has 20.
    static let payloadNumberBytesMax = 100
}
