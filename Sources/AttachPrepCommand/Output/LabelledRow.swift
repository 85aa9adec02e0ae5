/// A fact below what it is about: its label, then what is said. Pure.
enum LabelledRow {
    static func text(_ row: (label: String, text: String)) -> StyledText {
        let label = StyledText(row.label, style(of: row.label)).filled(to: 10)
        // A time is read last.
        return StyledText("  ") + label + StyledText(" \(row.text)", row.label == "time" ? .dim : .plain)
    }

    private static func style(of label: String) -> TerminalStyle {
        switch label {
        case "error": .bad
        case "warning": .warning
        default: .dim
        }
    }
}
