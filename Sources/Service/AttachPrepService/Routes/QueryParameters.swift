import AttachPrep
import AttachPrepModel
import FoundationEssentials
import Hummingbird
package import MediaTypes
import SafeArithmetic

struct QueryParameters {
    private let pairs: [(name: String, value: String?)]

    init(_ request: Request) {
        pairs = (request.uri.query ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1]) : ""
            return (Self.decoded(String(parts[0])) ?? String(parts[0]), Self.decoded(value))
        }
    }

    var names: [String] { pairs.map(\.name) }

    /// The value of a parameter; nil if it is missing.
    ///
    /// - Throws: `request.invalid` if it is repeated or not UTF-8.
    func value(_ name: String) throws -> String? {
        let found = pairs.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.count == 1, let value = first.value else {
            throw AttachPrepError(.requestInvalid, "The query parameter \"\(name)\" is repeated or not UTF-8.")
        }
        return value
    }

    /// The values of a parameter that is a set of choices, repeated or separated by commas; nil if it is missing.
    ///
    /// - Throws: `request.invalid`.
    func choices<Word: RawRepresentable & CaseIterable & Hashable>(
        _ name: String, _ type: Word.Type
    ) throws -> Set<Word>? where Word.RawValue == String {
        let found = pairs.filter { $0.name == name }
        guard !found.isEmpty else { return nil }
        let choices = found.flatMap { ($0.value ?? "").split(separator: ",", omittingEmptySubsequences: false) }
        return Set(
            try choices.map { word in
                guard let known = Word(rawValue: String(word)) else {
                    throw Self.unknown(name, text: String(word), as: Word.self)
                }
                return known
            })
    }

    /// The values of a parameter that may be repeated, or separated by commas; nil if it is missing.
    ///
    /// - Throws: `request.invalid` if a value is not UTF-8.
    func words(_ name: String) throws -> [String]? {
        let found = pairs.filter { $0.name == name }
        guard !found.isEmpty else { return nil }
        return try found.flatMap { pair in
            guard let value = pair.value else {
                throw AttachPrepError(.requestInvalid, "The query parameter \"\(name)\" is not UTF-8.")
            }
            return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// The value of a parameter that is one of several choices; nil if it is missing.
    ///
    /// - Throws: `request.invalid`.
    func choice<Word: RawRepresentable & CaseIterable & Hashable>(
        _ name: String, _ type: Word.Type
    ) throws -> Word? where Word.RawValue == String {
        guard let text = try value(name) else { return nil }
        guard let word = Word(rawValue: text) else { throw Self.unknown(name, text: text, as: Word.self) }
        return word
    }

    private static func unknown<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, text: String, as _: Word.Type
    ) -> AttachPrepError {
        let all = Word.allCases.map(\.rawValue)
        let listed =
            all.count <= Limits.listedChoicesMax
            ? all.joined(separator: ", ") : "the \(all.count) values in /openapi.json"
        let meant = Suggestion.nearest(to: text, of: all).map { "; did you mean \"\($0)\"?" } ?? "."
        return AttachPrepError(
            .requestInvalid,
            "The query parameter \"\(name)\" must be one of \(listed), not "
                + "\"\(MessageText.excerpt(text, bytesMax: 80))\"\(meant)")
    }

    /// The time in a parameter; nil if it is missing.
    ///
    /// - Throws: `request.invalid`.
    func time(_ name: String) throws -> Date? {
        guard let text = try value(name) else { return nil }
        guard let date = Timestamp.date(text) else {
            throw AttachPrepError(
                .requestInvalid,
                "The query parameter \"\(name)\" must be an RFC 3339 time such as 2026-11-21T20:51:02Z.")
        }
        return date
    }

    /// The page size, from 1 to `Limits.pageCountMax`; `Limits.pageCount` by default.
    ///
    /// - Throws: `request.invalid`.
    func limit() throws -> Int {
        guard let text = try value("limit") else { return Limits.pageCount }
        let digits = text.utf8.allSatisfy { $0 >= 48 && $0 <= 57 }
        guard digits, let limit = Int(text), (1...Limits.pageCountMax).contains(limit) else {
            throw AttachPrepError(
                .requestInvalid, "The query parameter \"limit\" must be a number from 1 to \(Limits.pageCountMax).")
        }
        return limit
    }

    /// The value of a parameter that has a format, such as an ID or a cursor; nil if it is missing.
    ///
    /// - Throws: `request.invalid`.
    func name<Name>(_ name: String, _ read: (String) -> Name?) throws -> Name? {
        guard let text = try value(name) else { return nil }
        guard let found = read(text) else {
            throw AttachPrepError(
                .requestInvalid, "The query parameter \"\(name)\" is malformed; send it as received in a response.")
        }
        return found
    }

    /// Decodes percent-encoding, and `+` as a space, as in forms; nil if the result is not UTF-8.
    private static func decoded(_ text: String) -> String? { PercentEncoding.decoded(text.replacing("+", with: " ")) }
}

extension Limits {
    /// The largest page of a job list.
    package static let pageCountMax = 200
    /// The default page size.
    package static let pageCount = 50
}
