import SafeArithmetic

/// Text formatting for terminals.
enum TerminalText {
    /// Escapes control, bidirectional and invisible characters as `\u{…}`, so that untrusted text cannot control the
    /// terminal.
    static func safe(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A duration such as `0.4 ms`, `125 ms` or `2.31 s`.
    static func duration(milliseconds: Double) -> String {
        switch milliseconds {
        case ..<10: "\((milliseconds * 10).rounded() / 10) ms"
        case ..<1000: "\(Int(clamping: milliseconds.rounded())) ms"
        default: "\((milliseconds / 10).rounded() / 100) s"
        }
    }

    /// A text padded with spaces to a width, on the left side if `right` is true.
    static func column(_ text: String, _ width: Int, right: Bool = false) -> String {
        let filling = String(repeating: " ", count: max(width.subtracting(clamping: DisplayWidth.columns(of: text)), 0))
        // Bounded: concatenated strings.
        return right ? filling + text : text + filling
    }
}
