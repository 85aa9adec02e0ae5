import ArgumentParser
import Glibc

/// The command: parse, run, turn the result into an exit code.
@main
struct AttachPrepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attachprep",
        abstract: "Turns media into files that an iPhone attaches to a notification.",
        discussion: """
            Right type, under Apple's limit, with thumbnail, crop, video frame and hint metadata.

              attachprep prepare https://cdn.example/cat.webp
              attachprep batch list.jsonl --output prepared
              attachprep inspect holiday.heic
              attachprep payload push.json --output public --base-url https://media.example/push
            """,
        version: Version.text,
        subcommands: [
            PrepareCommand.self, BatchCommand.self, PayloadCommand.self, InspectCommand.self, ServeCommand.self,
            WorkerCommand.self, JobsCommand.self, WebhooksCommand.self, CampaignsCommand.self, QuarantineCommand.self,
            DoctorCommand.self,
        ])

    static func main() async {
        // A reader that goes away is told by the write that fails, not by a signal; libcurl asks for the same.
        signal(SIGPIPE, SIG_IGN)
        var running: (any ParsableCommand.Type)?
        do {
            var command = try parseAsRoot()
            running = type(of: command)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            if StandardStreams.hasLostResults { throw CommandEnd.someRejected }
        } catch {
            leave(with: error, of: running)
        }
    }

    /// Help and version go to standard output and are no failure; wrong usage is 2.
    ///
    /// - Parameter command: what ran; nil when the command line could not be understood.
    private static func leave(with error: any Error, of command: (any ParsableCommand.Type)?) -> Never {
        if StandardStreams.hasLostResults {
            StandardStreams.note(
                "attachprep: Standard output could not be written; the results are in the output folder.")
        }
        if let end = error as? CommandEnd { Glibc.exit(end.rawValue) }
        let code = exitCode(for: error)
        let text = code.isSuccess ? fullMessage(for: error) : usage(error, of: command)
        if code.isSuccess { StandardStreams.result(text) } else { StandardStreams.note(text) }
        Glibc.exit(code.isSuccess ? CommandEnd.ready.rawValue : CommandEnd.wrongUsage.rawValue)
    }

    /// What is wrong with the command line, and where the right one is described.
    private static func usage(_ error: any Error, of command: (any ParsableCommand.Type)?) -> String {
        if let command, let names = CommandNames.all(self).first(where: { $0.command == command }) {
            // ArgumentParser knows which command a value belongs to only while it parses.
            return """
                Error: \(message(for: error))
                Usage: \(usageString(for: command))
                  See '\(names.path) --help' for more information.
                """
        }
        let words = Array(CommandLine.arguments.dropFirst())
        guard command == nil, let meant = CommandNames.suggestion(for: words, below: self) else {
            return fullMessage(for: error)
        }
        let typed = words.prefix(meant.split(separator: " ").count).joined(separator: " ")
        return """
            Error: There is no command '\(TerminalText.safe(typed))'. Did you mean '\(meant)'?
              See 'attachprep --help' for more information.
            """
    }
}
