internal import MediaTypes
internal import SafeArithmetic

/// Where a key that is unknown in one object belongs, for messages.
package struct KeyAdvice: Sendable {
    let keys: [String]
    /// As the end of a sentence: `it belongs in "options"`.
    let sentence: String

    package init(_ keys: [String], _ sentence: String) { (self.keys, self.sentence) = (keys, sentence) }
}

extension Decoder {
    /// Throws `request.invalid` for a key that is not in the list: a misspelled option must not be ignored silently.
    ///
    /// - Parameter advice: for keys of other objects, and for what others call a key.
    package func rejectUnknownKeys(
        of subject: String = "The request", except known: [String], advice: [KeyAdvice] = []
    ) throws {
        let keys = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        guard let unknown = keys.sorted().first(where: { !known.contains($0) }) else { return }
        let path = JSONDiagnosis.text(of: codingPath + [AnyKey(stringValue: unknown)])
        let remedy = Self.remedy(unknown, known: known, advice: advice)
        throw AttachPrepError(
            .requestInvalid, "\(subject) has the unknown key \"\(MessageText.excerpt(path))\"; \(remedy)")
    }

    private static func remedy(_ unknown: String, known: [String], advice: [KeyAdvice]) -> String {
        if let row = advice.first(where: { Suggestion.isSame(unknown, asOneOf: $0.keys) }) { return "\(row.sentence)." }
        if let meant = Suggestion.nearest(to: unknown, of: known) { return "did you mean \"\(meant)\"?" }
        let others = advice.compactMap { row in
            Suggestion.nearest(to: unknown, of: row.keys).map { "did you mean \"\($0)\"? Then \(row.sentence)." }
        }
        return others.first ?? "known keys are \(known.joined(separator: ", "))."
    }
}

/// Any key of a JSON object.
package struct AnyKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }

    package init?(intValue: Int) { nil }
}

/// Names that are meant by a misspelled one from outside.
///
/// Compared are ASCII letters without case, hyphens and underscores, so that `callback_url` is `callbackURL`; a text
/// with other characters, or a longer one, is similar to none. So the cost of the edit distance is bounded.
package enum Suggestion {
    /// Characters of a text that is compared; no key or value of a request is as long.
    private static let lettersMax = 40

    /// The most similar name; nil when none is similar.
    package static func nearest(to text: String, of names: [String]) -> String? {
        guard let letters = letters(of: text) else { return nil }
        let known = names.compactMap { name in Self.letters(of: name).map { (name: name, letters: $0) } }
        guard let found = EditDistance.nearest(to: letters, of: known.map(\.letters)) else { return nil }
        return known.first { $0.letters == found }?.name
    }

    /// Whether a text is one of the names apart from case, hyphens and underscores.
    static func isSame(_ text: String, asOneOf names: [String]) -> Bool {
        guard let letters = letters(of: text) else { return false }
        return names.contains { Self.letters(of: $0) == letters }
    }

    /// Nil for a text that is not compared.
    private static func letters(of text: String) -> String? {
        let bytes = text.utf8.prefix(lettersMax + 1)
        guard bytes.count <= lettersMax, bytes.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return nil }
        return ForeignText(bytes.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }).lowercased.string
    }
}
