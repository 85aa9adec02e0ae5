/// A line for a person: words and their looks, safe for a terminal, and cut before it is painted. Pure.
struct StyledText: Sendable, Hashable {
    private struct Word: Sendable, Hashable {
        var text: String
        var style: TerminalStyle
    }

    private var words: [Word]

    /// - Parameter text: from anywhere; what could move the cursor is spelled out.
    init(_ text: String = "", _ style: TerminalStyle = .plain) {
        words = [Word(text: TerminalText.safe(text), style: style)]
    }

    private init(words: [Word]) {
        self.words = words
    }

    static func + (left: StyledText, right: StyledText) -> StyledText {
        StyledText(words: left.words + right.words)
    }

    static func + (left: StyledText, right: String) -> StyledText { left + StyledText(right) }

    /// Columns of a terminal that it takes.
    var columns: Int { words.reduce(0) { $0 + DisplayWidth.columns(of: $1.text) } }

    /// The text alone.
    var plain: String { words.map(\.text).joined() }

    /// The text with the codes of its colours.
    var painted: String { words.map { $0.style.paint($0.text) }.joined() }

    /// As much as has room, with the mark at the end where something is missing.
    func cut(to columns: Int, mark: String) -> StyledText {
        guard self.columns > columns else { return self }
        return prefix(columns - DisplayWidth.columns(of: mark)) + StyledText(Self.mark(mark, in: columns), .dim)
    }

    /// The same with what is missing taken from its middle: both ends of an address say something.
    func cutInside(to columns: Int, mark: String) -> StyledText {
        guard self.columns > columns else { return self }
        let rest = max(columns - DisplayWidth.columns(of: mark), 0)
        let middle = StyledText(Self.mark(mark, in: columns), .dim)
        return prefix(rest - rest / 2) + middle + reversed.prefix(rest / 2).reversed
    }

    /// Filled with blanks to a width.
    func filled(to columns: Int, atRight: Bool = false) -> StyledText {
        let blanks = StyledText(String(repeating: " ", count: max(columns - self.columns, 0)))
        return atRight ? blanks + self : self + blanks
    }

    private static func mark(_ mark: String, in columns: Int) -> String {
        DisplayWidth.columns(of: mark) <= columns ? mark : ""
    }

    /// The first characters that have room; a wide one that does not fit is left out.
    private func prefix(_ columns: Int) -> StyledText {
        var left = columns
        var kept: [Word] = []
        for word in words {
            var text = ""
            for character in word.text {
                left -= DisplayWidth.columns(of: character)
                guard left >= 0 else { return StyledText(words: kept + [Word(text: text, style: word.style)]) }
                text.append(character)
            }
            kept.append(Word(text: text, style: word.style))
        }
        return StyledText(words: kept)
    }

    private var reversed: StyledText {
        StyledText(words: words.reversed().map { Word(text: String($0.text.reversed()), style: $0.style) })
    }
}

extension StyledText {
    /// Yes or no, where no is a fault.
    static func answer(_ isSo: Bool) -> StyledText { isSo ? StyledText("yes", .good) : StyledText("NO ", .bad) }
}
