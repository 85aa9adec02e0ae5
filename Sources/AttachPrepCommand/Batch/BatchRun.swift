import AttachPrep
import RichPush
import Synchronization

/// One batch under way: its results as they come, the progress, and the summary at its end.
final class BatchRun: Sendable {
    private let format: OutputFormat
    private let output: String?
    private let progress: ProgressDisplay?
    private let shelf: ReportShelf?
    private let state: Mutex<State>

    private struct State {
        var summary: BatchSummary
        var finished: Set<Int> = []
    }

    /// - Parameter shelf: where results are kept for a page.
    init(total: Int, format: OutputFormat, output: String?, shelf: ReportShelf? = nil) {
        self.format = format
        self.output = output
        self.shelf = shelf
        progress = ProgressDisplay(total: total)
        state = Mutex(State(summary: BatchSummary(total: total)))
    }

    /// Prepares the request of a line; one that cannot be read is a rejected request.
    func work(
        on line: BatchLine, session: PreparerSession, defaults: AttachmentRequest, resume: Bool
    ) async -> Manifest {
        progress?.begin(line.number, name: SourceName.text(line.source))
        defer { progress?.end(line.number) }
        let place = shelf?.place(line.number)
        do {
            let request = try line.request(defaults: defaults)
            try request.terms.refuseOutsideOfService()
            if resume, let manifest = await session.finished(request, place) {
                record(line) { $0.skipped += 1 }
                return manifest
            }
            let manifest = await session.prepared(request, place)
            if manifest.error?.code != .cancelled { record(line) { _ in } }
            return manifest
        } catch {
            record(line) { _ in }
            let manifest = Manifest(refusing: AttachmentRequest(source: line.source), error)
            await place?.keep(manifest, in: nil, session.preparer)
            return manifest
        }
    }

    private func record(_ line: BatchLine, _ change: (inout BatchSummary) -> Void) {
        state.withLock { state in
            state.finished.insert(line.number)
            change(&state.summary)
        }
    }

    /// Prints one result.
    func show(_ manifest: Manifest) {
        guard manifest.error?.code != .cancelled else { return }
        let summary = state.withLock { state in
            state.summary.add(manifest)
            return state.summary
        }
        let row = row(of: manifest)
        if let progress { progress.show(row, summary) } else { StandardStreams.result(row) }
    }

    private func row(of manifest: Manifest) -> String {
        guard format == .text else { return (try? String(manifest.json())) ?? "" }
        let display = StandardStreams.output
        return display.row(BatchRow(manifest, showsAddress: output == nil, display: display).text)
    }

    /// Prints the summary and, after an interruption, what is left.
    func finish(lines: [BatchLine]) {
        progress?.finish()
        let (summary, finished) = state.withLock { ($0.summary, $0.finished) }
        let display = StandardStreams.errors
        for line in summary.lines(for: display) { StandardStreams.note(display.paragraph(line)) }
        let left = lines.count { !finished.contains($0.number) }
        guard left > 0 else { return }
        StandardStreams.note(
            "\(left.grouped) of \(lines.count.grouped) left; give the same command with --resume to go on.")
    }
}
