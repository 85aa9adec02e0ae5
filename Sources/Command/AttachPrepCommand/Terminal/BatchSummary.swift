import AttachPrep
import AttachPrepModel
import MediaTypes
import SafeArithmetic

/// The summary at the end of a batch: a table of outcomes by kind, totals, and errors by code.
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
        // Clamping: with --resume the numbers come from manifests on disk, which may be corrupt.
        bytesIn = bytesIn.adding(clamping: manifest.source.bytes ?? 0)
        bytesOut = bytesOut.adding(clamping: manifest.attachment?.bytes ?? 0)
    }

    /// The kind of a result; without an attachment it follows from the source's type.
    private static func row(_ manifest: Manifest) -> Row {
        if let kind = manifest.attachment?.kind { return Row(rawValue: kind.rawValue) ?? .other }
        let format = MediaFormat.allCases.first { $0.mimeType == manifest.source.mimeType }
        return format.flatMap { Row(rawValue: $0.kind.rawValue) } ?? .other
    }

    func lines(for display: Display) -> [StyledText] {
        [StyledText()] + table.lines(for: display) + [StyledText(), closing] + failureLine
    }

    /// On a narrow terminal, outcomes without results are omitted, from the last column on.
    private var table: TextTable {
        let outcomes = Outcome.allCases
        let rows = Row.allCases.filter { counts[$0] != nil }.map { row in
            [StyledText(row.rawValue)]
                + outcomes.map { outcome in
                    let count = counts[row]?[outcome] ?? 0
                    return StyledText("\(count)", count > 0 ? TerminalStyle(outcome) : .dim)
                }
        }
        let empty = outcomes.filter { outcome in counts.values.allSatisfy { ($0[outcome] ?? 0) == 0 } }
        return TextTable(
            columns: [TextTable.Column(title: "")]
                + outcomes.map { TextTable.Column(title: $0.rawValue, isNumber: true, width: Self.numberWidth) },
            rows: rows,
            narrowingSteps: outcomes.map { .narrow($0.rawValue, to: $0.rawValue.count) }
                + empty.reversed().map { .leaveOut($0.rawValue) }, hasHeadInFiles: true)
    }

    /// Wide enough for any count and heading, so that columns have the same position in every batch.
    private static let numberWidth = 10

    private var closing: StyledText {
        let seconds = max(start.duration(to: .now) / .seconds(1), 0.001)
        let rate = (Double(done) / seconds * 10).rounded() / 10
        let resumed = skipped > 0 ? ", \(skipped) skipped" : ""
        let text =
            "\(done) of \(total) in \((seconds * 100).rounded() / 100) s (\(rate)/s)\(resumed), "
            + "\(bytesIn.grouped) bytes in, \(bytesOut.grouped) out, "
        return StyledText(text) + StyledText("\(failures) rejected", failures > 0 ? .bad : .plain)
    }

    private var failureLine: [StyledText] {
        guard !codes.isEmpty else { return [] }
        let sorted = codes.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
        let text = sorted.map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")
        return [StyledText("rejected", .bad) + ": \(text)"]
    }
}
