/// Makes untrusted text safe to print in a message.
package enum PrintableText {
    /// The number of characters shown; longer text is cut.
    private static let charactersMax = 80

    /// The text in quotes; control characters and line breaks are replaced by `?`.
    package static func quoted(_ text: String) -> String { "\"\(plain(text))\"" }

    /// The first 20 characters, without quotes.
    package static func short(_ text: String) -> String { plain(String(text.prefix(20))) }

    /// A path as messages write it.
    package static func path(_ path: PayloadPath) -> String {
        path.steps.isEmpty ? "the payload" : plain(path.description)
    }

    /// The text without leading and trailing whitespace.
    package static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
    }

    private static func plain(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(charactersMax).map { scalar in
            scalar.properties.isWhitespace && scalar != " " || isInvisible(scalar) ? "?" : String(scalar)
        }.joined()
        return text.unicodeScalars.count > charactersMax ? shown + "…" : shown
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .unassigned, .privateUse, .surrogate: true
        default: false
        }
    }
}
