import ArgumentParser
import AttachPrep
import AttachPrepPages
import RichPush

/// `attachprep prepare SOURCE...`
struct PrepareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Prepare URLs or files.",
        discussion: """
            Each source gets a folder with the attachment, its thumbnail, the crop when one is asked for, and \
            manifest.json. Results are printed in the order of the sources.
            """)

    @Argument(help: ArgumentHelp("URLs, file URLs or paths.", valueName: "source"))
    var sources: [String]

    @OptionGroup(title: "Results") var report: ReportOptionGroup
    @OptionGroup(title: "Page") var preview: PreviewOptionGroup
    @OptionGroup(title: "Output") var output: OutputOptionGroup
    @OptionGroup(title: "Publish") var publish: PublishOptionGroup
    @OptionGroup(title: "Request") var request: RequestOptionGroup
    @OptionGroup(title: "Machine") var machine: MachineOptionGroup

    func run() async throws {
        let (sources, report, output, request) = (sources, report, output, request)
        let page = try preview.file()
        let shelf = page.map { _ in ReportShelf(.preview, count: sources.count) }
        let session = try PreparerSession(
            machine: machine, output: output, publish: publish, report: report, requests: sources.count)
        let end = await Interruption.watch {
            await session.each(Array(sources.enumerated()), inOrder: true) { number, source in
                await session.prepare(source, resume: output.resume, shelf: shelf?.place(number)) {
                    try request.request(for: source)
                }
            } show: { manifest in
                StandardStreams.show(manifest, format: report.format, output: session.place)
            }
        }
        await session.preparer.shutdown()
        if let page, let shelf { try page.write(.preview(shelf.items)) }
        if end.isCancelled { throw CommandEnd.interrupted }
        if end.failures > 0 { throw CommandEnd.someRejected }
    }
}

extension StandardStreams {
    /// Prints one result in full.
    static func show(_ manifest: Manifest, format: OutputFormat, output: String?) {
        switch format {
        case .json: result((try? String(manifest.json())) ?? "")
        case .text: result(ManifestText(manifest: manifest, output: output).lines)
        }
    }
}
