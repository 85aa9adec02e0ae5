import AttachPrep
import RichPush

/// The table at the end of a batch: kinds down, outcomes across, and how the failures spread. Pure but for its clock.
struct BatchSummary {
    private let total: Int
    private let start = ContinuousClock.now
    private(set) var done = 0
    private(set) var failures = 0
    var skipped = 0
    private var counts: [Row: [Outcome: Int]] = [:]
    private var codes: [ErrorCode: Int] = [:]
    private var bytesIn = 0
    private var bytesOut = 0

    private enum Row: String, CaseIterable {
        case image, audio, movie, other
    }

    init(total: Int) {
        self.total = total
    }

    mutating func add(_ manifest: Manifest) {
        done += 1
        if let error = manifest.error {
            failures += 1
            codes[error.code, default: 0] += 1
        }
        counts[Self.row(manifest), default: [:]][manifest.outcome, default: 0] += 1
        bytesIn += manifest.source.bytes ?? 0
        bytesOut += manifest.attachment?.bytes ?? 0
    }

    /// A rejected source has no attachment: its content's type says what it would have been.
    private static func row(_ manifest: Manifest) -> Row {
        if let kind = manifest.attachment?.kind { return Row(rawValue: kind.rawValue) ?? .other }
        let format = MediaFormat.allCases.first { $0.mimeType == manifest.source.mimeType }
        return format.flatMap { Row(rawValue: $0.kind.rawValue) } ?? .other
    }

    /// The table as lines.
    var lines: [String] {
        let outcomes = Outcome.allCases
        let header =
            TerminalText.column("", 8)
            + outcomes.map { TerminalText.column($0.rawValue, 12, right: true) }
            .joined()
        let rows = Row.allCases.filter { counts[$0] != nil }.map { row in
            TerminalText.column(row.rawValue, 8)
                + outcomes.map { TerminalText.column("\(counts[row]?[$0] ?? 0)", 12, right: true) }.joined()
        }
        return ["", header] + rows + ["", closing] + failureLine
    }

    private var closing: String {
        let seconds = max(start.duration(to: .now) / .seconds(1), 0.001)
        let rate = (Double(done) / seconds * 10).rounded() / 10
        let resumed = skipped > 0 ? ", \(skipped) in place already" : ""
        return "\(done) of \(total) in \((seconds * 100).rounded() / 100) s (\(rate) a second)\(resumed), "
            + "\(bytesIn.grouped) bytes in, \(bytesOut.grouped) out, \(failures) rejected"
    }

    private var failureLine: [String] {
        guard !codes.isEmpty else { return [] }
        let sorted = codes.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
        return ["rejected: " + sorted.map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")]
    }
}
