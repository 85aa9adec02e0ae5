import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes

extension JobsCommand {
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Keep waiting jobs of a lane, of a host or all from starting.",
            discussion: """
                Jobs are still accepted, and running ones end as usual. A pause holds for all machines of the queue \
                and lasts, over restarts, until jobs resume.
                """)

        @OptionGroup var target: PauseTargetOptionGroup
        @Option(help: ArgumentHelp("Why, for those who find the queue paused.", valueName: "text"))
        var reason: String?
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            if (reason?.count ?? 0) > Limits.pauseReasonCharactersMax {
                throw ValidationError("--reason must be at most \(Limits.pauseReasonCharactersMax) characters.")
            }
        }

        func run() async throws {
            let target = try target.target()
            try await client.use { client, format in
                let pause = try await client.pause(target, reason: reason)
                StandardStreams.result(
                    format == .json ? try JSONEncoder.singleLine.text(pause) : "Paused \(target.words).")
                return true
            }
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "End a pause: its jobs start again.")

        @OptionGroup var target: PauseTargetOptionGroup
        @OptionGroup var client: JobsClientOptionGroup

        func run() async throws {
            let target = try target.target()
            try await client.use { client, _ in
                let hasEnded = try await client.resume(target)
                StandardStreams.result(
                    hasEnded ? "Resumed \(target.words)." : "No such pause; see attachprep jobs pauses.")
                return hasEnded
            }
        }
    }

    struct Pauses: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pauses", abstract: "List the pauses in force, the latest first.")

        @OptionGroup var client: JobsClientOptionGroup

        func run() async throws {
            try await client.use { client, format in
                let pauses = try await client.pauses()
                if format == .json {
                    for pause in pauses { StandardStreams.result(try JSONEncoder.singleLine.text(pause)) }
                } else if pauses.isEmpty {
                    StandardStreams.result("No pauses.")
                } else {
                    StandardStreams.result(PauseTable.table(pauses), isFirst: true)
                }
                return true
            }
        }
    }
}

/// Options that name the jobs of a pause.
struct PauseTargetOptionGroup: ParsableArguments {
    @Flag(help: "All jobs.") var all = false
    @Option(help: ArgumentHelp("Jobs of this priority: high, normal or bulk.", valueName: "priority"))
    var lane: JobPriority?
    @Option(help: ArgumentHelp("Jobs whose source has this host name.", valueName: "name")) var host: String?

    func validate() throws {
        guard [all, lane != nil, host != nil].count(where: \.self) == 1 else {
            throw ValidationError("Give one of --all, --lane and --host.")
        }
        _ = try target()
    }

    func target() throws -> PauseTarget {
        do {
            return try PauseTarget(all: all ? true : nil, lane: lane, host: host)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }
}

private enum PauseTable {
    static func table(_ pauses: [JobPause]) -> TextTable {
        TextTable(
            columns: [
                TextTable.Column(title: "paused", width: 4), TextTable.Column(title: "name", isAddress: true),
                TextTable.Column(title: "since"), TextTable.Column(title: "by"), TextTable.Column(title: "reason"),
            ],
            rows: pauses.map { pause in
                [
                    StyledText(pause.target.kind), StyledText(pause.target.name),
                    StyledText(Timestamp.text(pause.since), .dim), StyledText(pause.caller ?? ""),
                    StyledText(pause.reason ?? ""),
                ]
            },
            narrowingSteps: [
                .narrow("reason", to: 20), .narrow("by", to: 8), .leaveOut("by"), .narrow("reason", to: 1),
            ],
            hasHeadInFiles: true)
    }
}
