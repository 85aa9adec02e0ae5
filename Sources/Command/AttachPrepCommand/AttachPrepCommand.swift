import ArgumentParser
import AttachPrep
import AttachPrepService
import Glibc
import MediaTypes

/// The root command: parses the command line, runs the subcommand and maps errors to exit codes.
@main
struct AttachPrepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attachprep",
        abstract: "Prepare images, audio and movies as attachments of iOS notifications.",
        discussion: """
            Converts media to a type that iOS attaches, below Apple's size limits, with thumbnail, crop and the \
            options of UNNotificationAttachment.

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
        // A closed pipe is reported by write(2) as EPIPE instead of ending the process; libcurl requires this, too.
        signal(SIGPIPE, SIG_IGN)
        var running: (any ParsableCommand.Type)?
        do {
            // What tools/docs/reference writes into the OpenAPI document, beside ArgumentParser's dump of the help.
            if CommandLine.arguments.dropFirst() == ["--experimental-dump-openapi"] {
                return StandardStreams.result(try OpenAPIFragments.json())
            }
            var command = try parseAsRoot()
            running = type(of: command)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            if StandardStreams.hasLostResults { throw ExitCodeError.someRejected }
        } catch {
            await leave(with: error, of: running)
        }
    }

    /// Exits with the code of an error: help and version print to standard output and exit with 0, wrong usage exits
    /// with 2.
    ///
    /// - Parameter command: the command that ran; nil if the command line could not be parsed.
    private static func leave(with error: any Error, of command: (any ParsableCommand.Type)?) async -> Never {
        if StandardStreams.hasLostResults {
            StandardStreams.printNote(
                "attachprep: Writing to standard output failed; the results are in the output folder.")
        }
        if let end = error as? ExitCodeError { Glibc.exit(end.rawValue) }
        let code = exitCode(for: error)
        var text = code.isSuccess ? fullMessage(for: error) : usage(error, of: command)
        if code.isSuccess, text == Version.text { text += await Version.details() }
        if code.isSuccess { StandardStreams.result(text) } else { StandardStreams.printNote(text) }
        Glibc.exit(code.isSuccess ? ExitCodeError.ready.rawValue : ExitCodeError.wrongUsage.rawValue)
    }

    /// The error message of wrong usage, with a suggestion or the usage.
    private static func usage(_ error: any Error, of command: (any ParsableCommand.Type)?) -> String {
        if let command, let names = CommandNames.all(self).first(where: { $0.command == command }) {
            // ArgumentParser does not know the command of an error thrown after parsing.
            return """
                Error: \(message(for: error))
                Usage: \(usageString(for: command))
                  See '\(names.path) --help' for more information.
                """
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard command == nil, let meant = CommandNames.suggestion(for: arguments, below: self) else {
            return fullMessage(for: error)
        }
        let typed = arguments.prefix(meant.split(separator: " ").count).joined(separator: " ")
        return """
            Error: Unknown command '\(typed.escapingControls)'. Did you mean '\(meant)'?
              See 'attachprep --help' for more information.
            """
    }
}

/// Commands by their full names, for suggestions in error messages.
struct CommandNames {
    /// The full name, such as `attachprep jobs list`.
    let path: String
    let command: any ParsableCommand.Type

    static func all(_ command: any ParsableCommand.Type, below path: String = "") -> [CommandNames] {
        let name = command.configuration.commandName ?? command._commandName
        let whole = path.isEmpty ? name : "\(path) \(name)"
        let below = command.configuration.subcommands.flatMap { all($0, below: whole) }
        return [CommandNames(path: whole, command: command)] + below
    }

    /// The command most similar to arguments that name no command; nil if they name one, or none is similar.
    ///
    /// ```swift
    /// CommandNames.suggestion(for: ["jobs", "lst"], below: AttachPrepCommand.self)  // "jobs list"
    /// ```
    static func suggestion(for arguments: [String], below command: any ParsableCommand.Type) -> String? {
        var (command, path) = (command, [String]())
        for argument in arguments {
            let names = command.configuration.subcommands.map { $0.configuration.commandName ?? $0._commandName }
            guard !names.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            guard let index = names.firstIndex(of: argument) else {
                let nearest = EditDistance.nearest(to: argument.lowercased(), of: names, max: 2)
                return nearest.map { (path + [$0]).joined(separator: " ") }
            }
            path.append(argument)
            command = command.configuration.subcommands[index]
        }
        return nil
    }
}
