/// The `Cache-Control` of an answer (RFC 9111, 5.2.2): its directives by name, in lower case.
struct CacheDirectives: Sendable, Hashable {
    private let values: [String: [String]]

    /// - Parameter lines: of all fields of that name.
    init(_ lines: [String]) {
        var values: [String: [String]] = [:]
        for directive in lines.flatMap(Self.directives) {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.trimmed }
            guard let name = parts.first?.lowercased(), !name.isEmpty else { continue }
            values[name, default: []].append(parts.count > 1 ? parts[1].filter { $0 != "\"" } : "")
        }
        self.values = values
    }

    /// Whether it is there, with or without a value.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// Seconds that a directive gives; nil when it is not there, 0 when it cannot be read in one way (RFC 9111, 4.2.1).
    func seconds(_ name: String) -> Int? {
        guard let written = values[name] else { return nil }
        guard Set(written).count == 1, let text = written.first, !text.isEmpty,
            text.utf8.allSatisfy({ 0x30...0x39 ~= $0 })
        else { return 0 }
        return Int(text) ?? .max
    }

    /// At commas, but not at those inside of quotes.
    private static func directives(of line: String) -> [String] {
        var isQuoted = false
        return line.split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }.map(String.init)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
