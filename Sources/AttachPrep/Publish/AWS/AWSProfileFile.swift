/// `~/.aws/credentials` or `~/.aws/config` as the AWS tools read it: sections of keys and values. Pure.
///
/// A key without a value holds the indented ones below it; they are called "s3.addressing_style".
/// <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>
struct AWSProfileFile: Sendable, Hashable {
    /// By name; "profile x" of a configuration keeps its word. Of two sections of one name the later one's keys win.
    private(set) var sections: [String: [String: String]] = [:]

    /// Takes what it can read, and leaves the rest out.
    init(_ text: String) {
        var section: String?
        var parent: String?
        // A byte order mark is no part of a name.
        let unmarked = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        for line in unmarked.split(whereSeparator: \.isNewline) {
            let words = line.trimming(\.isWhitespace)
            if words.isEmpty || words.first == "#" || words.first == ";" { continue }
            if words.first == "[" {
                section = Self.name(words)
                if let section { sections[section, default: [:]] = sections[section] ?? [:] }
                parent = nil
                continue
            }
            guard let section, let (key, value) = Self.pair(words) else { continue }
            let isNested = line.first?.isWhitespace == true
            // Below a key that has a value of its own, an indented line goes on with it: no key that we read.
            if isNested, parent == nil { continue }
            let name = isNested ? "\(parent ?? "").\(key)" : key
            sections[section]?[name] = value
            if !isNested { parent = value.isEmpty ? key : nil }
        }
    }

    /// "[ profile  x ]" is "profile x"; nil without its end.
    private static func name(_ words: Substring) -> String? {
        guard let end = words.firstIndex(of: "]") else { return nil }
        let parts = words[..<end].dropFirst().split(whereSeparator: \.isWhitespace)
        return parts.map { $0.trimming { "\"'".contains($0) } }.joined(separator: " ")
    }

    private static func pair(_ words: Substring) -> (key: String, value: String)? {
        guard let equals = words.firstIndex(of: "=") else { return nil }
        let key = words[..<equals].trimming(\.isWhitespace).lowercased()
        let value = withoutComment(words[words.index(after: equals)...]).trimming(\.isWhitespace)
        return key.isEmpty ? nil : (key, String(value))
    }

    /// A comment behind a value has a space before its mark: secrets may hold one.
    private static func withoutComment(_ value: Substring) -> Substring {
        var isAfterSpace = true
        for index in value.indices {
            if isAfterSpace, value[index] == "#" || value[index] == ";" { return value[..<index] }
            isAfterSpace = value[index].isWhitespace
        }
        return value
    }
}

extension Substring {
    /// Without such characters at either end.
    fileprivate func trimming(_ isMeant: (Character) -> Bool) -> Substring {
        var rest = drop(while: isMeant)
        while let last = rest.last, isMeant(last) { rest.removeLast() }
        return rest
    }
}
