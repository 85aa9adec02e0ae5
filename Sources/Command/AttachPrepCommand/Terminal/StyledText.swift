import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import MediaTypes

/// A line of text as runs with styles, safe for a terminal; widths are measured without color codes.
struct StyledText: Sendable, Hashable {
    private struct Run: Sendable, Hashable {
        var text: String
        var style: TerminalStyle
    }

    private var runs: [Run]

    /// - Parameter text: may be untrusted; control characters are escaped.
    init(_ text: String = "", _ style: TerminalStyle = .plain) {
        runs = [Run(text: text.escapingControls, style: style)]
    }

    private init(runs: [Run]) {
        self.runs = runs
    }

    static func + (left: StyledText, right: StyledText) -> StyledText {
        StyledText(runs: left.runs + right.runs)
    }

    static func + (left: StyledText, right: String) -> StyledText { left + StyledText(right) }

    /// The width in columns of a terminal.
    var columns: Int { runs.reduce(0) { $0 + DisplayWidth.columns(of: $1.text) } }

    /// The text without styles.
    var plain: String { runs.map(\.text).joined() }

    /// The text with color codes.
    var painted: String { runs.map { $0.style.paint($0.text) }.joined() }

    /// The text cut at the end to a width, with an ellipsis.
    func cut(to columns: Int, mark: String) -> StyledText {
        guard self.columns > columns else { return self }
        return prefix(columns - DisplayWidth.columns(of: mark)) + StyledText(Self.mark(mark, in: columns), .dim)
    }

    /// The text cut in the middle to a width, with an ellipsis: both ends of a URL are informative.
    func cutInside(to columns: Int, mark: String) -> StyledText {
        guard self.columns > columns else { return self }
        let rest = max(columns - DisplayWidth.columns(of: mark), 0)
        let middle = StyledText(Self.mark(mark, in: columns), .dim)
        return prefix(rest - rest / 2) + middle + reversed.prefix(rest / 2).reversed
    }

    /// The text padded with spaces to a width; `atRight` aligns it to the right.
    func filled(to columns: Int, atRight: Bool = false) -> StyledText {
        let blanks = StyledText(String(repeating: " ", count: max(columns - self.columns, 0)))
        return atRight ? blanks + self : self + blanks
    }

    private static func mark(_ mark: String, in columns: Int) -> String {
        DisplayWidth.columns(of: mark) <= columns ? mark : ""
    }

    /// The longest prefix that fits into a width.
    private func prefix(_ columns: Int) -> StyledText {
        var left = columns
        var kept: [Run] = []
        for run in runs {
            var text = ""
            for character in run.text {
                left -= DisplayWidth.columns(of: character)
                guard left >= 0 else { return StyledText(runs: kept + [Run(text: text, style: run.style)]) }
                text.append(character)
            }
            kept.append(Run(text: text, style: run.style))
        }
        return StyledText(runs: kept)
    }

    private var reversed: StyledText {
        StyledText(runs: runs.reversed().map { Run(text: String($0.text.reversed()), style: $0.style) })
    }
}

extension StyledText {
    /// `yes` or, as a problem, `NO`, padded to the same width.
    static func answer(_ isSo: Bool) -> StyledText { isSo ? StyledText("yes", .good) : StyledText("NO ", .bad) }
}

/// A text style on a terminal with colors, by meaning.
enum TerminalStyle: Sendable, Hashable {
    case plain
    /// Success.
    case good
    /// Rejected, failed or missing.
    case bad
    case warning
    /// In progress.
    case active
    /// Less important text, such as times and labels.
    case dim
    /// The heading of a column.
    case heading

    /// The parameters of "select graphic rendition" (ECMA-48, 8.3.117); nil for none.
    ///
    /// Uses only the eight colors of the terminal's palette, which are readable on its background.
    private var rendition: String? {
        switch self {
        case .plain: nil
        case .good: "32"
        case .bad: "31"
        case .warning: "33"
        case .active: "36"
        case .dim: "2"
        case .heading: "1"
        }
    }

    /// The text with the style's escape sequence and a reset after it.
    func paint(_ text: String) -> String {
        guard let rendition, !text.isEmpty else { return text }
        return "\u{1B}[\(rendition)m\(text)\u{1B}[0m"
    }
}

extension TerminalStyle {
    init(_ outcome: Outcome) {
        self =
            switch outcome {
            case .passed, .converted, .shrunk: .good
            case .bestAttempt: .warning
            case .rejected: .bad
            }
    }

    init(_ state: JobState) {
        self =
            switch state {
            case .queued: .plain
            case .running: .active
            case .succeeded: .good
            case .failed, .dead: .bad
            case .cancelled: .dim
            }
    }

    init(_ state: WebhookState) {
        self =
            switch state {
            case .pending: .active
            case .delivered: .good
            case .givenUp: .bad
            }
    }
}

/// The width of text in columns of a terminal.
///
/// Follows Unicode's East Asian Width (UAX #11) as terminals do: ideographs and emoji take two columns, combining marks
/// none, all other characters one. Characters of ambiguous width take one.
enum DisplayWidth {
    static func columns(of text: String) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    static func columns(of character: Character) -> Int {
        // Fast path: nearly all text is printable ASCII.
        if let value = character.asciiValue { return value >= 0x20 && value < 0x7f ? 1 : 0 }
        return isEmoji(character) ? 2 : character.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
    }

    /// Whether a character has emoji presentation: by default, by variation selector 16, or as a flag of two letters.
    private static func isEmoji(_ character: Character) -> Bool {
        guard let first = character.unicodeScalars.first else { return false }
        let isPair = character.unicodeScalars.count > 1
        if 0x1F1E6...0x1F1FF ~= first.value { return isPair }
        if first.properties.isEmojiPresentation { return true }
        return isPair && first.properties.isEmoji && character.unicodeScalars.contains { $0.value == 0xFE0F }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // Hangul vowels and final consonants combine with the initial consonant.
        if 0x1160...0x11FF ~= scalar.value || 0xD7B0...0xD7FF ~= scalar.value { return 0 }
        return wide.contains { $0 ~= scalar.value } ? 2 : 1
    }

    /// Wide and fullwidth ranges, including unassigned code points, which are reserved for wide characters.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul initial consonants
        0x2E80...0x303E,  // radicals, punctuation
        0x3041...0x4DBF,  // kana, Hangul letters, enclosed, ideographs of extension A
        0x4E00...0xA4CF,  // ideographs, Yi
        0xA960...0xA97F,  // more Hangul initial consonants
        0xAC00...0xD7A3,  // Hangul syllables
        0xF900...0xFAFF,  // compatibility ideographs
        0xFE10...0xFE19, 0xFE30...0xFE6F,  // vertical and small forms
        0xFF01...0xFF60, 0xFFE0...0xFFE6,  // fullwidth forms
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,  // Tangut, Nushu, older kana
        0x1F200...0x1F2FF,  // enclosed ideographs
        0x20000...0x3FFFD,  // ideographic planes
    ]
}
