/// A stranger's text inside a sentence of ours.
enum SpokenText {
    /// Characters shown: enough to find the place, too few to drown the sentence.
    private static let charactersMax = 80

    /// In quotes, without what would break a line or a terminal.
    static func quoted(_ text: String) -> String { "\"\(plain(text))\"" }

    /// A short one without quotes.
    static func word(_ text: String) -> String { plain(String(text.prefix(20))) }

    /// Where something stands.
    static func path(_ path: PayloadPath) -> String { path.steps.isEmpty ? "the payload" : plain(path.description) }

    /// Without white space at either end.
    static func trimmed(_ text: String) -> String {
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
