import Synchronization

/// Count, rate, time left and failures of a batch, on one line of a terminal.
final class ProgressBar: Sendable {
    private let total: Int
    private let start = ContinuousClock.now

    init(total: Int) {
        self.total = total
    }

    /// Takes the bar away, so that a line can be written where it was.
    func clear() {
        StandardStreams.raw("\r\u{1B}[K")
    }

    func draw(done: Int, failures: Int) {
        let seconds = start.duration(to: .now) / .seconds(1)
        StandardStreams.raw(
            "\r\u{1B}[K"
                + Self.line(
                    done: done, total: total, failures: failures, seconds: seconds, columns: StandardStreams.columns))
    }

    /// The line, never wider than the terminal: pure.
    static func line(done: Int, total: Int, failures: Int, seconds: Double, columns: Int) -> String {
        let rate = seconds > 0 ? Double(done) / seconds : 0
        let left = rate > 0 ? clock(Double(total - done) / rate) : "-:--"
        let facts = " \(done)/\(total)  \((rate * 10).rounded() / 10)/s  \(left) left  \(failures) rejected"
        let width = min(40, columns - facts.count - 3)
        guard width >= 5 else { return String(facts.dropFirst().prefix(max(0, columns - 1))) }
        let filled = total > 0 ? width * done / total : width
        return "[" + String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled) + "]" + facts
    }

    private static func clock(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded(.up))
        let rest = whole % 60
        return "\(whole / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}
