/// What a batch has done so far, on one line of a terminal: pure.
struct ProgressLine: Sendable {
    /// A source that is being worked on.
    struct Work: Sendable, Hashable {
        let name: String
        let seconds: Double
    }

    let total: Int
    var done = 0
    var failures = 0
    /// Of those done, the ones that stood in place already: they say nothing about the rate.
    var skipped = 0
    /// Since the batch began.
    var seconds = 0.0
    /// The longest first.
    var working: [Work] = []

    private static let barWidthMax = 40
    private static let barWidthMin = 8
    /// A name and a time that say something.
    private static let workWidthMin = 20
    private static let workCountMax = 3

    /// The line, never as wide as the terminal: a character in the last column would break it.
    func text(for display: Display) -> StyledText {
        let room = (display.columns ?? 80) - 1
        let facts = facts(in: room - Self.barWidthMin - 3)
        let width = min(Self.barWidthMax, room - facts.columns - 3)
        guard width >= Self.barWidthMin else { return facts.cut(to: room, mark: display.mark) }
        let filled = display.isUTF8 ? blocks(width) : signs(width)
        let line = StyledText("[") + StyledText(filled, .active) + "] " + facts
        let rest = room - line.columns - 2
        guard rest >= Self.workWidthMin, !working.isEmpty else { return line }
        return line + "  " + StyledText(workText, .dim).cut(to: rest, mark: display.mark)
    }

    /// Each with how long it stays when there is no room for all: 0 goes first.
    ///
    /// They keep their widths while numbers grow, so that the bar does not shiver.
    private var allFacts: [(rank: Int, text: StyledText)] {
        let rate = seconds > 0 ? Double(done - skipped) / seconds : 0
        let left = rate > 0 ? Self.clock((Double(total - done) / rate).rounded(.up)) : done == total ? "0:00" : "-:--"
        let countWidth = 2 * String(total).count + 1
        return [
            (9, Self.fact("\(done)/\(total)", countWidth)),
            (3, Self.fact("\(total > 0 ? done * 100 / total : 100)%", 4)),
            (0, Self.fact(Self.clock(seconds.rounded(.down)), 4, .dim)),
            (1, Self.fact("\((rate * 10).rounded() / 10)/s", 6, .dim)), (4, Self.fact("\(left) left", 9)),
            (failures > 0 ? 5 : 2, Self.fact("\(failures) rejected", 10, failures > 0 ? .bad : .plain)),
        ]
    }

    private static func fact(_ text: String, _ width: Int, _ style: TerminalStyle = .plain) -> StyledText {
        StyledText(text, style).filled(to: width, atRight: true)
    }

    private func facts(in room: Int) -> StyledText {
        var facts = allFacts
        while facts.count > 1 {
            let line = Self.line(facts)
            if line.columns <= room { return line }
            let lowest = facts.map(\.rank).min()
            facts.removeAll { $0.rank == lowest }
        }
        return Self.line(facts)
    }

    private static func line(_ facts: [(rank: Int, text: StyledText)]) -> StyledText {
        facts.dropFirst().reduce(facts[0].text) { $0 + "  " + $1.text }
    }

    /// The last block grows by eighths, so that a long batch is seen to move.
    private func blocks(_ width: Int) -> String {
        let eighths = total > 0 ? width * 8 * done / total : width * 8
        let full = String(repeating: "█", count: eighths / 8)
        let last = eighths % 8 > 0 ? [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8] : ""
        return full + last + String(repeating: " ", count: width - eighths / 8 - (last.isEmpty ? 0 : 1))
    }

    private func signs(_ width: Int) -> String {
        let filled = total > 0 ? width * done / total : width
        return String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
    }

    private var workText: String {
        working.prefix(Self.workCountMax).map { "\($0.name) \(Self.clock($0.seconds.rounded(.down)))" }
            .joined(separator: ", ")
    }

    /// Whole seconds as `0:07`, `12:30` or `1:05:00`.
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e9))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return (hours > 0 ? "\(hours):\(twoDigits(minutes))" : "\(minutes)") + ":" + twoDigits(whole % 60)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
