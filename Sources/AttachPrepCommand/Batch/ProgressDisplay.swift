import Dispatch
import Synchronization

/// The progress of a batch on a terminal: one line below the results, drawn again while the clock moves on.
///
/// The cursor is never hidden and rests at the line's beginning, so whatever ends the process leaves a sound terminal.
final class ProgressDisplay: Sendable {
    private struct State {
        var line: ProgressLine
        var working: [Int: (name: String, start: ContinuousClock.Instant)] = [:]
        /// Results that are not written yet: on a terminal they come with the next drawing.
        var rows: [String] = []
        /// As it stands there now.
        var drawn = ""
        var timer: (any DispatchSourceTimer)?
        var hasEnded = false
    }

    /// The eye takes ten pictures a second for motion; more would cost a slow connection more than they show.
    private static let drawingsPerSecond = 10

    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// - Returns: nil when nobody watches standard error, or its terminal cannot draw a line again.
    init?(total: Int) {
        guard StandardStreams.errors.canRedraw else { return nil }
        state = Mutex(State(line: ProgressLine(total: total)))
    }

    /// Work on a source begins; with the first one the display appears.
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

    /// A result is there: its row, and what is done so far.
    func show(_ row: String, _ summary: BatchSummary) {
        state.withLock { state in
            (state.line.done, state.line.failures) = (summary.done, summary.failures)
            state.line.skipped = summary.skipped
            // Elsewhere than on the terminal it is in nobody's way.
            guard StandardStreams.output.columns != nil else { return StandardStreams.result(row) }
            state.rows.append(row)
        }
    }

    /// Writes what was held back and takes the line away.
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
            // Drawn over the old one, and the rest wiped: an empty line in between would flicker.
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
