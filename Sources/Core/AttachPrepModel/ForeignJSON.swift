package import FoundationEssentials
internal import MediaTypes
internal import SafeArithmetic

/// Decodes JSON from outside, after a check of its bytes.
///
/// `JSONDecoder` builds a tree of the whole text and compares keys as `String`s. So nesting, the number of values, the
/// length of numbers and runs of combining marks are limited before, in one pass over the bytes. Of a key that occurs
/// twice in one object it takes one of both, and other parsers take the other: such a text is refused, as in payloads,
/// and so is a comma before a closing bracket.
package enum ForeignJSON {
    /// - Throws: What `JSONDecoder` throws, and `DecodingError` for a text over a limit.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: some Sequence<UInt8>, with decoder: JSONDecoder = JSONDecoder(),
        valuesMax: Int = Limits.jsonValuesMax
    ) throws -> Value {
        let bytes = Array(bytes)
        try check(bytes, valuesMax: valuesMax)
        return try decoder.decode(Value.self, from: Data(bytes))
    }

    /// - Throws: `DecodingError` for a text over a limit or with a key that occurs twice in one object. Invalid JSON is
    ///   left to the decoder.
    package static func check(_ bytes: [UInt8], valuesMax: Int = Limits.jsonValuesMax) throws {
        var shape = JSONShape(bytes: bytes, valuesMax: valuesMax)
        guard let problem = isWide(bytes) ? "is UTF-16 or UTF-32; send it as UTF-8" : shape.problem else { return }
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: [], debugDescription: "The JSON \(problem).",
                underlyingError: ForeignJSONError(problem: problem)))
    }

    /// Whether the text is in an encoding of more than one byte a character, which `JSONDecoder` reads and the check of
    /// bytes does not.
    static func isWide(_ bytes: [UInt8]) -> Bool {
        // The header of gzip has a zero byte, too.
        let isCompressed = bytes.starts(with: [0x1F, 0x8B])
        return !isCompressed && bytes.prefix(4).contains(0) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.starts(with: [0xFF, 0xFE])
    }

    /// What `check` found, as the predicate of a sentence: `is nested more than 80 levels deep`. Nil for other errors.
    package static func problem(_ error: any Error) -> String? {
        guard case .dataCorrupted(let context) = error as? DecodingError else { return nil }
        return (context.underlyingError as? ForeignJSONError)?.problem
    }
}

/// A JSON text over a limit or with a key that occurs twice.
private struct ForeignJSONError: Error {
    let problem: String
}

/// Measures a JSON text without building a tree; linear in its bytes.
private struct JSONShape {
    let bytes: [UInt8]
    private let valuesMax: Int
    private var position = 0
    private var values = 0
    /// The keys so far of each open object; nil for an array. A key becomes a `String` after its runs of combining
    /// marks were checked.
    private var keys: [Set<String>?] = []
    /// Whether only white space follows a comma so far.
    private var isAfterComma = false

    init(bytes: [UInt8], valuesMax: Int) { (self.bytes, self.valuesMax) = (bytes, valuesMax) }

    /// The first limit that the text exceeds; nil when it is within all.
    var problem: String? {
        mutating get {
            while position < bytes.count {
                if let problem = token() { return problem }
            }
            return nil
        }
    }

    private mutating func token() -> String? {
        let byte = bytes[position]
        guard !Self.whiteSpace.contains(byte) else {
            position += 1
            return nil
        }
        let wasAfterComma = isAfterComma
        isAfterComma = byte == UInt8(ascii: ",")
        switch byte {
        case UInt8(ascii: "}") where wasAfterComma, UInt8(ascii: "]") where wasAfterComma:
            // `JSONDecoder` reads it, and other parsers do not.
            return "has a comma before a closing bracket; remove the comma"
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            keys.append(byte == UInt8(ascii: "{") ? [] : nil)
            if keys.count > Limits.jsonDepthMax { return "is nested more than \(Limits.jsonDepthMax) levels deep" }
        case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = keys.popLast()
        case UInt8(ascii: ","), UInt8(ascii: ":"):
            values += 1
            if values > valuesMax { return "has more than \(valuesMax) keys and values" }
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        default: break
        }
        position += 1
        return nil
    }

    private static let whiteSpace: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private mutating func number() -> String? {
        let start = position
        while position < bytes.count, Self.isOfNumber(bytes[position]) { position += 1 }
        guard position - start > Limits.jsonNumberBytesMax else { return nil }
        return "has a number of more than \(Limits.jsonNumberBytesMax) characters"
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func string() -> String? {
        position += 1
        let start = position
        var run = CombiningMarkRun()
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            guard run.continues(with: scalar()) else {
                return "has a string with more than \(CombiningMarks.runMax) combining marks on one character"
            }
        }
        let end = min(position, bytes.count)
        position += 1
        while position < bytes.count, Self.whiteSpace.contains(bytes[position]) { position += 1 }
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":"), let last = keys.indices.last,
            case let key = Self.text(bytes[start..<end]), keys[last]?.insert(key).inserted == false
        else { return nil }
        return "has the key \(PrintableText.quoted(key)) twice in one object; parsers differ on which one counts, so "
            + "keep one"
    }

    /// The text of a string's bytes without its quotes.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
        var shape = JSONShape(bytes: Array(bytes), valuesMax: 0)
        var scalars = String.UnicodeScalarView()
        while shape.position < shape.bytes.count { scalars.append(shape.scalar()) }
        return String(scalars)
    }

    /// The characters that a backslash and a letter stand for.
    private static let escapes: [UInt8: Unicode.Scalar] = [
        UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r",
        UInt8(ascii: "t"): "\t", UInt8(ascii: "/"): "/", UInt8(ascii: "\\"): "\\", UInt8(ascii: "\""): "\"",
    ]

    /// Reads the next character of a string, escaped or not; a space for anything invalid.
    private mutating func scalar() -> Unicode.Scalar {
        let byte = bytes[position]
        if byte < 0x80, byte != UInt8(ascii: "\\") {
            position += 1
            return Unicode.Scalar(byte)
        }
        return byte < 0x80 ? escapedScalar() : multibyteScalar()
    }

    private mutating func escapedScalar() -> Unicode.Scalar {
        guard let unit = JSONEscaping.codeUnit(bytes, at: position) else {
            position += 2
            return position <= bytes.count ? Self.escapes[bytes[position - 1]] ?? " " : " "
        }
        position += 6
        guard UTF16.isLeadSurrogate(unit), let trail = JSONEscaping.codeUnit(bytes, at: position),
            UTF16.isTrailSurrogate(trail)
        else { return Unicode.Scalar(unit) ?? " " }
        position += 6
        return Unicode.Scalar(0x1_0000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF))) ?? " "
    }

    private mutating func multibyteScalar() -> Unicode.Scalar {
        let lead = bytes[position]
        position += 1
        let more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0
        var value = UInt32(lead) & (0x7F >> UInt32(more + 1))
        for _ in 0..<more {
            guard position < bytes.count, bytes[position] & 0xC0 == 0x80 else { return " " }
            value = value << 6 | UInt32(bytes[position] & 0x3F)
            position += 1
        }
        return more > 0 ? Unicode.Scalar(value) ?? " " : " "
    }
}

extension Limits {
    /// Levels of nesting of JSON from outside: a payload may have 64, and is part of other documents.
    package static let jsonDepthMax = 80
    /// Keys and values of a JSON text from outside: a payload of 64 KiB has at most 32,000.
    package static let jsonValuesMax = 100_000
    /// Characters of a number in JSON from outside; a 64-bit one has 20, a `Double` 24.
    package static let jsonNumberBytesMax = 64
}
