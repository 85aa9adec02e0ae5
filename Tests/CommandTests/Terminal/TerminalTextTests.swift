import Testing

@testable import AttachPrepCommand

/// Display widths, shortened texts and tables, without a terminal.
@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("", 0), ("cat", 3), ("é", 1), ("e\u{301}", 1), ("猫", 2), ("ｶﾅ", 2), ("カナ", 4), ("한국", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("Ａ", 2), ("😀", 2), ("👍🏽", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤", 1),
        ("❤\u{FE0F}", 2), ("…", 1), ("█▍", 2), ("нет", 3), ("ش", 1), ("\u{200B}", 0), ("\u{7}", 0), ("क्ष", 2), ("𠀀", 2),
        ("﷽", 1), ("→", 1), ("①", 1), ("、", 2), ("\u{20DD}", 0),
    ])
    func `The width of a text is the number of columns that terminals use for it`(text: String, columns: Int) {
        #expect(DisplayWidth.columns(of: text) == columns)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef", "abcdef"), ("abcdef", 5, "abcd…", "ab…ef"), ("abcdef", 4, "abc…", "ab…f"),
        ("abcdef", 1, "…", "…"), ("abcdef", 0, "", ""), ("猫猫猫", 5, "猫猫…", "猫…猫"), ("猫猫猫", 4, "猫…", "猫…"),
        ("a\u{301}bc", 2, "a\u{301}…", "a\u{301}…"),
    ])
    func `A text is shortened at its end or in its middle`(text: String, columns: Int, atEnd: String, inside: String) {
        #expect(StyledText(text).cut(to: columns, mark: "…").plain == atEnd)
        #expect(StyledText(text).cutInside(to: columns, mark: "…").plain == inside)
    }

    @Test func `A shortened text keeps its style`() {
        let text = StyledText("rejected", .bad) + " page.jpg"
        #expect(text.cut(to: 5, mark: "…").painted == "\u{1B}[31mreje\u{1B}[0m\u{1B}[2m…\u{1B}[0m")
    }

    @Test func `Characters that could move the cursor are escaped`() {
        #expect(StyledText("a\u{1B}[2J\n\u{202E}b").painted == "a\\u{1b}[2J\\u{a}\\u{202e}b")
    }

    private static let table = TextTable(
        columns: [
            .init(title: "job"), .init(title: "tries", isNumber: true), .init(title: "source", isAddress: true),
        ],
        rows: [
            [StyledText("a1"), StyledText("1"), StyledText("https://cdn.example/cat.jpg")],
            [StyledText("b2"), StyledText("12"), StyledText("https://cdn.example/猫.jpg")],
        ],
        narrowingSteps: [.narrow("source", to: 15), .leaveOut("tries"), .narrow("source", to: 5)])

    private func lines(_ columns: Int?) -> [String] {
        Self.table.lines(for: Display(columns: columns)).map(\.plain)
    }

    @Test func `A table in a file has complete rows and no heading`() {
        #expect(lines(nil) == ["a1   1  https://cdn.example/cat.jpg", "b2  12  https://cdn.example/猫.jpg"])
    }

    @Test func `A table on a terminal has a heading and narrows or omits the least important columns`() {
        #expect(lines(80).map(\.count) == [18, 39, 37])
        #expect(lines(80)[0] == "job  tries  source" && lines(80)[1] == "a1       1  https://cdn.example/cat.jpg")
        #expect(lines(30) == ["job  tries  source", "a1       1  https://c…/cat.jpg", "b2      12  https://c…e/猫.jpg"])
        #expect(lines(20) == ["job  source", "a1   https:/…cat.jpg", "b2   https:/…/猫.jpg"])
        #expect(lines(8) == ["job  so…", "a1   ht…", "b2   ht…"])
    }

    @Test func `Later parts of a list have no heading`() {
        #expect(Self.table.lines(for: Display(columns: 80), hasHead: false).count == 2)
    }

    /// Terminal, `TERM`, `NO_COLOR` and `--color`; expected: whether it has colors, and whether lines are redrawn.
    @Test(
        arguments: [
            (true, "xterm", nil, ColorChoice.auto, true, true), (true, "xterm", "", .auto, true, true),
            (true, "xterm", "0", .auto, false, true), (true, "dumb", nil, .auto, false, false),
            (true, nil, nil, .auto, false, false), (false, "xterm", nil, .auto, false, false),
            (false, "dumb", "1", .always, true, false), (true, "xterm", nil, .never, false, true),
        ] as [(Bool, String?, String?, ColorChoice, Bool, Bool)])
    func `Colors depend on the terminal, TERM, NO_COLOR and --color`(
        isTerminal: Bool, name: String?, noColor: String?, choice: ColorChoice, isColored: Bool, canRedraw: Bool
    ) {
        let display = Display(columns: isTerminal ? 80 : nil, color: choice) { variable in
            ["TERM": name, "NO_COLOR": noColor][variable] ?? nil
        }
        #expect(display.isColored == isColored && display.canRedraw == canRedraw)
    }

    @Test(
        arguments: [
            ([:], false), (["LANG": "C"], false), (["LANG": "de_DE.UTF-8"], true), (["LANG": "C.utf8"], true),
            (["LANG": "C.UTF-8", "LC_ALL": "C"], false), (["LANG": "C", "LC_CTYPE": "C.UTF-8"], true),
            (["LANG": "C.UTF-8", "LC_ALL": ""], true),
        ] as [([String: String], Bool)])
    func `The locale decides whether characters beyond ASCII are used`(variables: [String: String], isUTF8: Bool) {
        #expect(Display(columns: 80, color: .auto) { variables[$0] }.isUTF8 == isUTF8)
    }
}
