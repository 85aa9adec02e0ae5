import SafeArithmetic

/// Text from outside, made safe for a terminal: pure.
enum TerminalText {
    /// Control, bidirectional and invisible characters become `\u{…}`, so that no name or URL can move the cursor.
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

    /// Milliseconds as a person reads them: `0.4 ms`, `125 ms`, `2.31 s`.
    static func duration(milliseconds: Double) -> String {
        switch milliseconds {
        case ..<10: "\((milliseconds * 10).rounded() / 10) ms"
        case ..<1000: "\(Int(clamping: milliseconds.rounded())) ms"
        default: "\((milliseconds / 10).rounded() / 100) s"
        }
    }

    /// A label filled to a width, numbers to the right.
    static func column(_ text: String, _ width: Int, right: Bool = false) -> String {
        let filling = String(repeating: " ", count: max(width.subtracting(clamping: DisplayWidth.columns(of: text)), 0))
        // Bounded: texts.
        return right ? filling + text : text + filling
    }
}
