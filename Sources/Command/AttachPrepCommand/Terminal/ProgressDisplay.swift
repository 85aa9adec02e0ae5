import Dispatch
import Synchronization

/// The progress line of a batch on a terminal, below the results, redrawn ten times a second.
///
/// The cursor is never hidden and stays at the line's start, so that a killed process leaves the terminal usable.
final class ProgressDisplay: Sendable {
    private struct State {
        var line: ProgressLine
        var working: [Int: (name: String, start: ContinuousClock.Instant)] = [:]
        /// Rows not yet written; on a terminal they are written at the next redraw.
        var rows: [String] = []
        /// The progress line as drawn last.
        var drawn = ""
        var timer: (any DispatchSourceTimer)?
        var hasEnded = false
    }

    /// Enough to look continuous; more would slow down remote terminals.
    private static let drawingsPerSecond = 10

    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// - Returns: Nil if standard error is not a terminal or cannot redraw a line.
    init?(total: Int) {
        guard StandardStreams.errors.canRedraw else { return nil }
        state = Mutex(State(line: ProgressLine(total: total)))
    }

    /// Notes that work on a source begins; the first call shows the progress line.
    func begin(_ number: Int, name: String) {
        state.withLock { state in
            state.working[number] = (name, .now)
            guard state.timer == nil, !state.hasEnded else { return }
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now(), repeating: .milliseconds(1000 / Self.drawingsPerSecond))
            timer.setEventHandler { [weak self] in self?.draw() }
            timer.resume()
            state.timer = timer
        }
    }

    func end(_ number: Int) {
        state.withLock { $0.working[number] = nil }
    }

    /// Shows the row of a result and updates the counts.
    func show(_ row: String, summary: BatchSummary) {
        state.withLock { state in
            (state.line.done, state.line.failures) = (summary.done, summary.failures)
            state.line.skipped = summary.skipped
            // Results in a file or pipe do not interfere with the progress line.
            guard StandardStreams.output.columns != nil else { return StandardStreams.result(row) }
            state.rows.append(row)
        }
    }

    /// Writes pending rows and clears the progress line.
    func finish() {
        state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            state.hasEnded = true
            Self.clear(&state)
            Self.writeRows(&state)
        }
    }

    private func draw() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            let display = StandardStreams.errors
            let now = ContinuousClock.now
            state.line.seconds = start.duration(to: now) / .seconds(1)
            state.line.working = state.working.values.sorted { $0.start < $1.start }.map {
                ProgressLine.Work(name: $0.name, seconds: $0.start.duration(to: now) / .seconds(1))
            }
            let text = display.paragraph(state.line.text(for: display))
            if !state.rows.isEmpty {
                Self.clear(&state)
                Self.writeRows(&state)
            }
            guard text != state.drawn else { return }
            // Overwrites the line and clears the rest, which avoids flicker.
            StandardStreams.raw("\r\(text)\u{1B}[K\r")
            state.drawn = text
        }
    }

    private static func clear(_ state: inout State) {
        if !state.drawn.isEmpty { StandardStreams.raw("\r\u{1B}[K") }
        state.drawn = ""
    }

    private static func writeRows(_ state: inout State) {
        for row in state.rows { StandardStreams.result(row) }
        state.rows = []
    }
}

/// The content of the progress line.
struct ProgressLine: Sendable {
    struct Work: Sendable, Hashable {
        let name: String
        let seconds: Double
    }

    let total: Int
    var done = 0
    var failures = 0
    /// Sources that `--resume` skipped; included in `done`, excluded from the rate.
    var skipped = 0
    /// Seconds since the batch began.
    var seconds = 0.0
    /// Sources in progress, the longest running first.
    var working: [Work] = []

    private static let barWidthMax = 40
    private static let barWidthMin = 8
    /// Enough for a name and a time.
    private static let workWidthMin = 20
    private static let workCountMax = 3

    /// The line, narrower than the terminal, since a character in the last column would wrap.
    func text(for display: Display) -> StyledText {
        let available = (display.columns ?? 80) - 1
        let facts = facts(in: available - Self.barWidthMin - 3)
        let width = min(Self.barWidthMax, available - facts.columns - 3)
        guard width >= Self.barWidthMin else { return facts.cut(to: available, mark: display.mark) }
        let filled = display.isUTF8 ? blocks(width) : signs(width)
        let line = StyledText("[") + StyledText(filled, .active) + "] " + facts
        let rest = available - line.columns - 2
        guard rest >= Self.workWidthMin, !working.isEmpty else { return line }
        return line + "  " + StyledText(workText, .dim).cut(to: rest, mark: display.mark)
    }

    /// The parts of the line, with a rank: on a narrow terminal the lowest ranks are omitted first.
    ///
    /// Widths are constant while numbers grow, so that the bar does not move.
    private var allFacts: [(rank: Int, text: StyledText)] {
        let rate = seconds > 0 ? Double(done - skipped) / seconds : 0
        let left = rate > 0 ? Self.clock((Double(total - done) / rate).rounded(.up)) : done == total ? "0:00" : "-:--"
        let countWidth = 2 * String(total).count + 1
        return [
            (9, Self.fact("\(done)/\(total)", width: countWidth)),
            (3, Self.fact("\(total > 0 ? done * 100 / total : 100)%", width: 4)),
            (0, Self.fact(Self.clock(seconds.rounded(.down)), width: 4, style: .dim)),
            (1, Self.fact("\((rate * 10).rounded() / 10)/s", width: 6, style: .dim)),
            (4, Self.fact("\(left) left", width: 9)),
            (failures > 0 ? 5 : 2, Self.fact("\(failures) rejected", width: 10, style: failures > 0 ? .bad : .plain)),
        ]
    }

    private static func fact(_ text: String, width: Int, style: TerminalStyle = .plain) -> StyledText {
        StyledText(text, style).filled(to: width, atRight: true)
    }

    private func facts(in available: Int) -> StyledText {
        var facts = allFacts
        while facts.count > 1 {
            let line = Self.line(facts)
            if line.columns <= available { return line }
            let lowest = facts.map(\.rank).min()
            facts.removeAll { $0.rank == lowest }
        }
        return Self.line(facts)
    }

    private static func line(_ facts: [(rank: Int, text: StyledText)]) -> StyledText {
        facts.dropFirst().reduce(facts[0].text) { $0 + "  " + $1.text }
    }

    /// A bar of block characters, in steps of an eighth, so that progress in a long batch is visible.
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

    /// A time such as `0:07`, `12:30` or `1:05:00`.
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e9))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return (hours > 0 ? "\(hours):\(twoDigits(minutes))" : "\(minutes)") + ":" + twoDigits(whole % 60)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
