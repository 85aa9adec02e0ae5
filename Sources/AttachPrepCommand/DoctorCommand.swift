import ArgumentParser
import AttachPrep
import MediaEngine
import RichPush

/// `attachprep doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Libraries, formats, walls, and what is missing.")

    @OptionGroup(title: "Results") var report: ReportOptionGroup
    @OptionGroup(title: "Publish") var publish: PublishOptionGroup
    @OptionGroup(title: "Queue on NATS servers") var queue: QueueOptionGroup

    func run() async throws {
        let examination = await MachineExamination.run(
            publishing: try publish.place(), queue: try queue.servers(), verbose: report.verbose)
        switch report.format {
        case .json: StandardStreams.result((try? examination.json()) ?? "")
        case .text: StandardStreams.result(examination.lines)
        }
        if !examination.isHealthy { throw CommandEnd.someRejected }
    }
}
