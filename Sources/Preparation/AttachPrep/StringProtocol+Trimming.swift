extension StringProtocol {
    /// Without leading and trailing characters of a kind.
    package func trimming(while isTrimmed: (Character) -> Bool) -> SubSequence {
        let rest = drop(while: isTrimmed)
        guard let last = rest.lastIndex(where: { !isTrimmed($0) }) else { return rest }
        return rest[...last]
    }

    /// Without leading and trailing white space, such as line ends.
    package var trimmingWhitespace: SubSequence { trimming(while: \.isWhitespace) }

    /// Without leading and trailing spaces and tabs.
    package var trimmingSpaces: SubSequence { trimming { $0 == " " || $0 == "\t" } }
}
