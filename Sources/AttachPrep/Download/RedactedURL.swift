/// An address as it may be shown: in messages, manifests, logs and the API.
///
/// User info is removed, and the values of a query that are secrets (`SecretQuery`) become `REDACTED`. Works on the
/// text alone, so that an address nobody can parse is redacted too; and scalar by scalar, since an accent behind an `@`
/// makes another character of it for Swift, but not for whoever fetches.
public enum RedactedURL {
    private typealias Scalars = Substring.UnicodeScalarView

    /// The text to show for an address.
    public static func redact(_ text: String) -> String {
        redact(text, depth: 0)
    }

    private static func redact(_ text: String, depth: Int) -> String {
        var shown = text
        var before = ""
        // What was hidden behind user info may look like user info itself; each round takes something away.
        while shown != before {
            before = shown
            shown = String(withoutUserInfo(shown[...].unicodeScalars))
        }
        let (head, tail) = split(shown[...].unicodeScalars, at: ["?", "#"])
        return "\(String(head))\(redactPairs(tail, depth: depth))"
    }

    /// The same for a sentence: a server may lead to an address that fills a page, or that speaks to a terminal.
    static func excerpt(_ text: String) -> String {
        let shown = withoutControls(redact(text))
        return shown.count <= excerptCharactersMax ? shown : shown.prefix(excerptCharactersMax) + "…"
    }

    /// Two lines of a terminal.
    private static let excerptCharactersMax = 160

    private static func withoutControls(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.map { scalar in
            guard isControl(scalar) else { return String(scalar) }
            return String(scalar).utf8.map { "%" + [$0].hexadecimal.uppercased() }.joined()
        }.joined()
    }

    /// C0, DEL and C1, and the marks that turn the direction of writing.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
            || ["\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}"]
                .contains { $0.contains(scalar) }
    }

    private static func withoutUserInfo(_ text: Scalars) -> Scalars {
        guard let colon = text.firstIndex(of: ":") else { return text }
        let start = text[colon...].dropFirst().drop { $0 == "/" || $0 == "\\" }.startIndex
        guard start > text.index(after: colon), let at = endOfUserInfo(text[start...]) else { return text }
        var shown = text[..<start]
        shown.append(contentsOf: text[text.index(after: at)...])
        return shown
    }

    private static func endOfUserInfo(_ rest: Scalars) -> Scalars.Index? {
        let authority = rest.prefix { !["/", "?", "#"].contains($0) }
        if let at = authority.lastIndex(of: "@") { return at }
        // "user:pass/word@host" is no valid address, but the secret in it is one.
        let behindAddress = authority.first == "[" ? authority.drop { $0 != "]" } : authority
        guard let colon = behindAddress.firstIndex(of: ":") else { return nil }
        let port = behindAddress[colon...].dropFirst()
        return port.allSatisfy { ("0"..."9").contains($0) } ? nil : rest.lastIndex(of: "@")
    }

    /// A pair of a query or a fragment, and the mark before it.
    private struct Pair {
        let separator: Unicode.Scalar
        let text: Scalars
        /// Percent-decoded; nil for a pair without a value.
        let key: String?
        let isSecret: Bool
    }

    /// Redacts "?a=b&c=d#e=f".
    private static func redactPairs(_ tail: Scalars, depth: Int) -> String {
        var pairs: [Pair] = []
        var rest = tail
        while let separator = rest.first {
            let (text, further) = split(rest.dropFirst(), at: ["&", ";", "?", "#"])
            pairs.append(pair(text, after: separator, depth: depth))
            rest = further
        }
        let isSigned = pairs.contains(where: \.isSecret)
        var shown = ""
        for pair in pairs {
            shown.unicodeScalars.append(pair.separator)
            let isHidden = pair.isSecret || (isSigned && pair.key.map(SecretQuery.goesAlong(key:)) == true)
            // Bounded: texts.
            shown += isHidden ? redacted(pair.text) : String(pair.text)
        }
        return shown
    }

    private static func pair(_ text: Scalars, after separator: Unicode.Scalar, depth: Int) -> Pair {
        guard let equals = text.firstIndex(of: "=") else {
            return Pair(
                separator: separator, text: text, key: nil, isSecret: SecretQuery.looksRandom(decoded(String(text))))
        }
        let key = decoded(String(text[..<equals]))
        let value = decoded(String(text[equals...].dropFirst()))
        let isSecret = SecretQuery.isSecret(key: key) || isSecret(value, depth: depth)
        return Pair(separator: separator, text: text, key: key, isSecret: isSecret && !value.isEmpty)
    }

    /// A value that is random, or an address that has a secret itself.
    private static func isSecret(_ value: String, depth: Int) -> Bool {
        if SecretQuery.looksRandom(value) { return true }
        guard depth < nestedMax, value.contains("://") || value.contains("=") else { return false }
        // Bounded: below nestedMax.
        return redact(value, depth: depth + 1) != value
    }

    /// Addresses within addresses that are looked into: a proxy's, and the one behind it.
    private static let nestedMax = 2

    private static func redacted(_ pair: Scalars) -> String {
        guard let equals = pair.firstIndex(of: "=") else { return "REDACTED" }
        return String(pair[...equals]) + "REDACTED"
    }

    /// Percent-decodes, so that "%73ig" does not slip through.
    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                // Bounded: text, and what it gives is optional.
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func split(_ text: Scalars, at separators: Set<Unicode.Scalar>) -> (Scalars, Scalars) {
        let index = text.firstIndex { separators.contains($0) } ?? text.endIndex
        return (text[..<index], text[index...])
    }
}
