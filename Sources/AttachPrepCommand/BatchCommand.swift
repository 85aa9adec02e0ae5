import ArgumentParser
import AttachPrep
import AttachPrepPages
import RichPush
import Synchronization

/// `attachprep batch LIST`
struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Prepare many, from a list; resumable.",
        discussion: """
            A line of the list is a source, or a request as a JSON object: {"source": "https://…", "id": "cat", \
            "options": {"thumbnailTime": 3}}. Options given here hold for lines that do not say otherwise. Empty \
            lines and lines that begin with # are skipped. Results are printed as they finish.
            """)

    @Argument(help: ArgumentHelp("A file of sources or JSON Lines, or - for standard input.", valueName: "list"))
    var list: String

    @OptionGroup(title: "Results") var report: ReportOptionGroup

    @Option(
        name: .customLong("report"),
        help: ArgumentHelp(
            "Write a page with totals, failures and each notification as a phone draws it.", valueName: "file"))
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
        let session = try PreparerSession(
            machine: machine, output: output, publish: publish, report: report, requests: lines.count)
        let shelf = page.map { _ in ReportShelf(.report, count: lines.count) }
        let run = BatchRun(total: lines.count, format: report.format, output: session.place, shelf: shelf)
        let start = ContinuousClock.now
        let end = await Interruption.watch {
            await session.each(lines, inOrder: false) { line in
                await run.work(on: line, session: session, defaults: defaults, resume: output.resume)
            } show: {
                run.show($0)
            }
        }
        await session.preparer.shutdown()
        run.finish(lines: lines)
        if let page, let items = shelf?.items {
            let seconds = start.duration(to: .now) / .seconds(1)
            try page.write(.batch(items, list: list, seconds: seconds, left: lines.count - items.count))
        }
        if end.isCancelled { throw CommandEnd.interrupted }
        if end.failures > 0 { throw CommandEnd.someRejected }
    }

    /// An option that is wrong for every line is wrong usage.
    private func defaultRequest() throws -> AttachmentRequest {
        do {
            return try request.request(for: "")
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }
}
