import SafeArithmetic

/// Text formatting for terminals.
enum TerminalText {
    /// A duration such as `0.4 ms`, `125 ms` or `2.31 s`.
    static func duration(milliseconds: Double) -> String {
        switch milliseconds {
        case ..<10: "\((milliseconds * 10).rounded() / 10) ms"
        case ..<1000: "\(Int(clamping: milliseconds.rounded())) ms"
        default: "\((milliseconds / 10).rounded() / 100) s"
        }
    }

    /// A text padded with spaces to a width.
    static func column(_ text: String, width: Int) -> String {
        let filling = String(repeating: " ", count: max(width.subtracting(clamping: DisplayWidth.columns(of: text)), 0))
        return text + filling
    }
}
