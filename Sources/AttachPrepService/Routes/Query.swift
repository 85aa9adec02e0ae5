import Hummingbird
import RichPush

/// What stands behind a path's question mark.
struct Query {
    private let pairs: [(name: String, value: String?)]

    init(_ request: Request) {
        pairs = (request.uri.query ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1]) : ""
            return (Self.decoded(String(parts[0])) ?? String(parts[0]), Self.decoded(value))
        }
    }

    var names: [String] { pairs.map(\.name) }

    /// Nil when it is not there.
    ///
    /// - Throws: `request.invalid` when it is there twice, or is no UTF-8.
    func value(_ name: String) throws -> String? {
        let found = pairs.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.count == 1, let value = first.value else {
            throw AttachPrepError(.requestInvalid, "The query's \"\(name)\" is there twice, or is no UTF-8.")
        }
        return value
    }

    /// A set of words, repeated or with commas between them; nil when it is not there.
    ///
    /// - Throws: `request.invalid`.
    func words<Word: RawRepresentable & CaseIterable & Hashable>(
        _ name: String, _ type: Word.Type
    ) throws -> Set<Word>? where Word.RawValue == String {
        let found = pairs.filter { $0.name == name }
        guard !found.isEmpty else { return nil }
        let words = found.flatMap { ($0.value ?? "").split(separator: ",", omittingEmptySubsequences: false) }
        return Set(
            try words.map { word in
                guard let known = Word(rawValue: String(word)) else {
                    let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
                    throw AttachPrepError(.requestInvalid, "The query's \"\(name)\" is not one of \(all).")
                }
                return known
            })
    }

    /// How many are wanted on a page.
    ///
    /// - Throws: `request.invalid`.
    func limit() throws -> Int {
        guard let text = try value("limit") else { return Limits.pageCount }
        let digits = text.utf8.allSatisfy { $0 >= 48 && $0 <= 57 }
        guard digits, let limit = Int(text), (1...Limits.pageCountMax).contains(limit) else {
            throw AttachPrepError(
                .requestInvalid, "The query's \"limit\" is not a number from 1 to \(Limits.pageCountMax).")
        }
        return limit
    }

    /// A name that has a form of its own; nil when it is not there.
    ///
    /// - Throws: `request.invalid`.
    func name<Name>(_ name: String, _ read: (String) -> Name?) throws -> Name? {
        guard let text = try value(name) else { return nil }
        guard let found = read(text) else {
            throw AttachPrepError(.requestInvalid, "The query's \"\(name)\" is not what an answer gave as such.")
        }
        return found
    }

    /// RFC 3986; a plus is a space, as forms write it. Nil for what is no UTF-8.
    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
