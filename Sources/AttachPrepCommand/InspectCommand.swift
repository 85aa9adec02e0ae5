import ArgumentParser
import AttachPrep
import RichPush

/// `attachprep inspect SOURCE...`
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "What is it, would iOS take it, what would be done.")

    @Argument(help: ArgumentHelp("URLs, file URLs or paths.", valueName: "source"))
    var sources: [String]

    @OptionGroup(title: "Results") var report: ReportOptionGroup
    @OptionGroup(title: "Request") var request: RequestOptionGroup
    @OptionGroup(title: "Machine") var machine: MachineOptionGroup

    func run() async throws {
        let (sources, request, format) = (sources, request, report.format)
        let session = try PreparerSession(machine: machine, output: nil, report: report)
        let reports = await Interruption.watch {
            var reports: [InspectionReport] = []
            for source in sources where !Task.isCancelled {
                let inspected = await Self.inspect(source, request: request, session: session)
                Self.show(inspected, format: format)
                reports.append(inspected)
            }
            return reports
        }
        await session.preparer.shutdown()
        if reports.contains(where: { $0.plan.error?.code == .cancelled }) || reports.count < sources.count {
            throw CommandEnd.interrupted
        }
        if reports.contains(where: { $0.plan.outcome == .rejected }) { throw CommandEnd.someRejected }
    }

    private static func inspect(_ source: String, request: RequestOptionGroup, session: PreparerSession) async
        -> InspectionReport
    {
        do {
            return await session.preparer.inspect(try request.request(for: source))
        } catch {
            return InspectionReport(refusing: source, error)
        }
    }

    private static func show(_ report: InspectionReport, format: OutputFormat) {
        switch format {
        case .json: StandardStreams.result((try? report.json()) ?? "")
        case .text: StandardStreams.result(InspectionText(report: report).lines)
        }
    }
}
