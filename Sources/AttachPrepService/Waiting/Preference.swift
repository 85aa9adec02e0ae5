import HTTPTypes
import RichPush

/// What a caller would like (RFC 7240): `wait=10`, or `wait="10"`.
struct Preference {
    /// Whole seconds; nil when none are asked for. What is not understood is no preference.
    let waitSeconds: Int?

    init(_ fields: [String]) {
        // Several fields are one list; of a preference that is repeated the first one is valid.
        let list = Self.split(fields.joined(separator: ",")[...], at: ",").compactMap {
            Self.split($0, at: ";").first.flatMap(Self.pair)
        }
        waitSeconds = list.first { $0.name == "wait" }.flatMap { seconds(in: $0.value) }
    }

    /// `token [ "=" word ]`, with spaces around each part.
    private static func pair(_ text: Substring) -> (name: String, value: String)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first?.trimmingSpaces().lowercased(), !name.isEmpty, parts.count == 2 else { return nil }
        return unquoted(parts[1].trimmingSpaces()).map { (name, $0) }
    }

    /// A word as it is meant: a token, or a quoted string without its quotes and backslashes (RFC 9110, 5.6.4).
    private static func unquoted(_ word: Substring) -> String? {
        guard word.first == "\"" else { return String(word) }
        guard word.count > 1, word.last == "\"" else { return nil }
        var (text, isEscaped) = ("", false)
        for character in word.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        return text
    }

    /// Parts between separators that are not inside of quotes.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var (isQuoted, isEscaped) = (false, false)
        return text.split(omittingEmptySubsequences: false) { character in
            defer { isEscaped = isQuoted && !isEscaped && character == "\\" }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }
}

/// Digits alone; at most what a caller may wait.
private func seconds(in text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
        return nil
    }
    // More digits than a number has are more seconds than anybody may wait.
    return min(Int(text) ?? .max, Int(Limits.preferredWaitSecondsMax))
}
