/// Searches for a text, which the standard library has since iOS 16 only.
extension StringProtocol {
    /// The first occurrence of a text that is not empty; nil when there is none.
    package func range(ofFirst text: String) -> Range<Index>? {
        guard let start = indices.first(where: { self[$0...].starts(with: text) }) else { return nil }
        return start..<index(start, offsetBy: text.count)
    }

    /// The parts before, between and after the occurrences of a text; empty ones, too.
    package func split(around text: String) -> [String] {
        var (parts, rest) = ([String](), self[...])
        while let range = rest.range(ofFirst: text) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
