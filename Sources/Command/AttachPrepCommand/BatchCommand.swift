import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepPages
import AttachPrepService
import FoundationEssentials
import MediaTypes
import SafeArithmetic
import Synchronization

/// `attachprep batch LIST`
struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Prepare a list of sources; resumable.",
        discussion: """
            Each line of the list is a source, or a request as a JSON object: {"source": "https://…", "id": "cat", \
            "options": {"thumbnailTime": 3}}. Options of the command are defaults for all lines. Empty lines and \
            lines that begin with # are skipped. Results are printed as they finish.
            """)

    @Argument(help: ArgumentHelp("File of sources or JSON Lines; - for standard input.", valueName: "list"))
    var list: String

    @OptionGroup(title: "Results") var report: ReportOptionGroup

    @Option(
        name: .customLong("report"),
        help: ArgumentHelp(
            "Write an HTML report with totals, failures and a preview of each notification.", valueName: "file"))
    var reportFile: String?

    @OptionGroup(title: "Output") var output: OutputOptionGroup
    @OptionGroup(title: "Publish") var publish: PublishOptionGroup
    @OptionGroup(title: "Request") var request: RequestOptionGroup
    @OptionGroup(title: "Machine") var machine: MachineOptionGroup

    func run() async throws {
        let lines = try BatchList.read(list)
        let defaults = try defaultRequest()
        let (report, output) = (report, output)
        let page = try reportFile.map { try ReportFile(path: $0, option: "--report") }
        let session = try await PreparerSession(
            machine: machine, output: output, publish: publish, report: report, requests: lines.count)
        let collector = page.map { _ in ReportCollector(.report, count: lines.count) }
        let run = BatchRun(
            total: lines.count, format: report.format, output: session.outputFolder, collector: collector)
        let start = ContinuousClock.now
        let end = await Interruption.cancellingOnInterrupt {
            await session.each(lines, inOrder: false) { line in
                await run.work(on: line, session: session, defaults: defaults, resume: output.resume)
            } show: {
                run.show($0)
            }
        }
        await session.shutdown()
        run.finish(lines: lines)
        if let page, let items = collector?.items {
            let seconds = start.duration(to: .now) / .seconds(1)
            try page.write(.batch(items, list: list, seconds: seconds, left: lines.count - items.count))
        }
        if end.isCancelled { throw ExitCodeError.interrupted }
        if end.failures > 0 { throw ExitCodeError.someRejected }
    }

    /// The request from the command's options; an invalid option is wrong usage, since it affects every line.
    private func defaultRequest() throws -> AttachmentRequest {
        do {
            return try request.request(for: "")
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }
}

/// A running batch: prints results as they finish, the progress, and the summary at the end.
final class BatchRun: Sendable {
    private let format: OutputFormat
    private let output: String?
    private let progress: ProgressDisplay?
    private let collector: ReportCollector?
    private let state: Mutex<State>

    private struct State {
        var summary: BatchSummary
        var finished: Set<Int> = []
    }

    /// - Parameter collector: collects results for a report; nil without one.
    init(total: Int, format: OutputFormat, output: String?, collector: ReportCollector? = nil) {
        self.format = format
        self.output = output
        self.collector = collector
        progress = ProgressDisplay(total: total)
        state = Mutex(State(summary: BatchSummary(total: total)))
    }

    /// Prepares the request of a line; a malformed line yields a rejected manifest.
    func work(
        on line: BatchLine, session: PreparerSession, defaults: AttachmentRequest, resume: Bool
    ) async -> Manifest {
        progress?.begin(line.number, name: SourceName.text(line.source))
        defer { progress?.end(line.number) }
        let slot = collector?.slot(line.number)
        do {
            let request = try line.request(defaults: defaults)
            try request.jobOptions.rejectServiceOnlyOptions()
            if resume, let manifest = await session.finished(request, collector: slot) {
                record(line) { $0.skipped += 1 }
                return manifest
            }
            let manifest = await session.prepared(request, collector: slot)
            if manifest.error?.code != .cancelled { record(line) { _ in } }
            return manifest
        } catch {
            record(line) { _ in }
            let manifest = Manifest(rejecting: AttachmentRequest(source: line.source), error)
            await slot?.store(manifest, in: nil, preparer: session.preparer)
            return manifest
        }
    }

    private func record(_ line: BatchLine, _ change: (inout BatchSummary) -> Void) {
        state.withLock { state in
            state.finished.insert(line.number)
            change(&state.summary)
        }
    }

    func show(_ manifest: Manifest) {
        guard manifest.error?.code != .cancelled else { return }
        let summary = state.withLock { state in
            state.summary.add(manifest)
            return state.summary
        }
        let row = row(of: manifest)
        if let progress { progress.show(row, summary: summary) } else { StandardStreams.result(row) }
    }

    private func row(of manifest: Manifest) -> String {
        guard format == .text else { return (try? String(manifest.json())) ?? "" }
        let display = StandardStreams.output
        return display.row(BatchRow(manifest, showsAddress: output == nil, display: display).text)
    }

    /// Prints the summary and, after an interruption, the number of remaining lines.
    func finish(lines: [BatchLine]) {
        progress?.finish()
        let (summary, finished) = state.withLock { ($0.summary, $0.finished) }
        let display = StandardStreams.errors
        for line in summary.lines(for: display) { StandardStreams.printNote(display.paragraph(line)) }
        let left = lines.count { !finished.contains($0.number) }
        guard left > 0 else { return }
        StandardStreams.printNote(
            "\(left.grouped) of \(lines.count.grouped) not processed; run the command again with --resume.")
    }
}

/// A line of a batch list and its number, from 1.
struct BatchLine: Sendable, Hashable {
    let number: Int
    let text: String
    /// Whether it exceeds `requestBytesMax`; its text is empty then.
    var isTooLong = false

    /// Parses the line as a request.
    ///
    /// - Throws: `request.too_large`, `request.invalid`, or the code of an invalid option.
    func request(defaults: AttachmentRequest) throws -> AttachmentRequest {
        guard !isTooLong else {
            throw AttachPrepError(
                .requestTooLarge, "Line \(number) of the list exceeds \(Limits.requestBytesMax) bytes.")
        }
        guard text.hasPrefix("{") else {
            var request = defaults
            request.source = text
            return request
        }
        do {
            return try AttachmentRequest(json: Array(text.utf8), defaults: defaults)
        } catch let error as AttachPrepError {
            throw AttachPrepError(error.code, "Line \(number) of the list: \(error.message)", detail: error.detail)
        }
    }

    /// The source shown for the line if it is malformed.
    var source: String { text.hasPrefix("{") || isTooLong ? "line \(number)" : text }
}

enum BatchList {
    /// Reads a file, or standard input for `-`.
    ///
    /// - Throws: `ValidationError` if the file cannot be read, or is media itself.
    static func read(_ path: String) throws -> [BatchLine] {
        let bytes = try InputFile(path: path, name: "list", remedy: "a file of sources or JSON Lines")
            .bytes(lineBytesMax: Limits.batchLineBytesMax)
        // A movie given by mistake would be thousands of sources that do not exist.
        if bytes.contains(0) {
            throw ValidationError("The list \(path) is not text; to prepare the file itself, use attachprep prepare.")
        }
        guard areComparable(bytes) else {
            throw ValidationError(
                "The list \(path) has more than \(CombiningMarks.runMax) combining marks on one character; "
                    + "remove them.")
        }
        return lines(bytes)
    }

    /// Whether the text may become strings, which are compared and split.
    static func areComparable(_ bytes: [UInt8]) -> Bool { CombiningMarks.areBounded(in: bytes) }

    /// The lines without empty ones and comments. They are split as bytes, and one that is too long is not decoded, so
    /// that a list of one endless line is rejected at once.
    static func lines(_ bytes: [UInt8]) -> [BatchLine] {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let content = bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]
        var lines: [BatchLine] = []
        var number = 0
        for piece in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            // Spaces around a request do not count.
            guard piece.count <= Limits.requestBytesMax + Self.spacesMax else {
                number += 1
                lines.append(BatchLine(number: number, text: "", isTooLong: true))
                continue
            }
            // Unicode has further newlines.
            let text = String(decoding: piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece, as: UTF8.self)
            for part in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
                number += 1
                if let line = line(number: number, String(part.trimmingWhitespace)) { lines.append(line) }
            }
        }
        return lines
    }

    private static func line(number: Int, _ text: String) -> BatchLine? {
        if text.isEmpty || text.utf8.first == UInt8(ascii: "#") { return nil }
        guard text.utf8.count <= Limits.requestBytesMax else {
            return BatchLine(number: number, text: "", isTooLong: true)
        }
        return BatchLine(number: number, text: text)
    }

    private static let spacesMax = 1_024
}

struct BatchRow {
    let text: StyledText

    /// - Parameters:
    ///   - showsAddress: whether to show URLs, because files are published to a bucket.
    ///   - display: determines the column widths, since rows are printed one by one.
    init(_ manifest: Manifest, showsAddress: Bool, display: Display) {
        let outcome = StyledText(manifest.outcome.rawValue, TerminalStyle(manifest.outcome)).filled(to: 11)
        let time = StyledText(TerminalText.duration(milliseconds: manifest.timings.total), .dim)
        let hasTime = (display.columns ?? .max) >= Self.columnsWithTime
        text =
            outcome + " " + Self.name(manifest.source.url, display: display)
            + (hasTime ? StyledText(" ") + time.filled(to: 8, atRight: true) : StyledText())
            + "  " + Self.result(manifest, showsAddress: showsAddress)
    }

    private static let nameWidth = 28
    /// On a narrower terminal the time is omitted in favor of the error.
    private static let columnsWithTime = 60

    /// The column grows with the terminal from 12 to 40; names in files and pipes are not cut.
    private static func name(_ url: String, display: Display) -> StyledText {
        let name = StyledText(SourceName.text(url))
        guard let columns = display.columns else { return name.filled(to: nameWidth) }
        let width = min(max(columns * nameWidth / 80, 12), 40)
        return name.cutInside(to: width, mark: display.mark).filled(to: width)
    }

    private static func result(_ manifest: Manifest, showsAddress: Bool) -> StyledText {
        guard let attachment = manifest.attachment else {
            let code = StyledText(manifest.error?.code.rawValue ?? "internal", .bad)
            return code + ": \(manifest.error?.message ?? "")"
        }
        let location = (showsAddress ? attachment.url : nil) ?? manifest.localPath(of: attachment)
        let source = StyledText("\(manifest.source.mimeType ?? "") \((manifest.source.bytes ?? 0).grouped)", .dim)
        let warnings = manifest.warnings.map { " [\($0.code.rawValue)]" }.joined()
        let secret = manifest.sealed?.secret.map { " secret \($0.text)" } ?? ""
        return source + " -> \(location) \(attachment.bytes.grouped)\(secret)" + StyledText(warnings, .warning)
    }
}

/// The last path component of a source, as a short name.
enum SourceName {
    static func text(_ source: String) -> String {
        let path = RedactedURL.redact(source).prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map(String.init) ?? source
    }
}

extension Limits {
    /// Bytes of a line of a list at which reading ends: a line may have 64 KB, and beside a longer one, up to this, the
    /// other lines are prepared.
    static let batchLineBytesMax = 10_000_000
}
