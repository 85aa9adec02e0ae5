import ArgumentParser
import AttachPrep
import Logging
import RichPush

/// `attachprep quarantine list|lift`
struct QuarantineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "List and lift what is refused because it ended its media process.",
        discussion: """
            A file that ends its media process twice, by a crash or by needing too much memory or processor time, is \
            refused from then on. It is known by its content.
            """,
        subcommands: [List.self, Lift.self])

    /// `attachprep quarantine list`
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "What has ended its media process, the latest first.")

        @Option(help: "text for people, json for programs.") var format = OutputFormat.text
        @OptionGroup var colour: ColourOptionGroup
        @OptionGroup var state: StateOptionGroup

        func run() throws {
            let entries = Quarantine(stateFolder: state.folder, logger: .quiet).entries()
            let rows = entries.map(QuarantineRow.init)
            if format == .json {
                for row in rows { StandardStreams.result(try row.json()) }
            } else if rows.isEmpty {
                StandardStreams.result("Nothing is in quarantine.")
            } else {
                StandardStreams.result(QuarantineRow.table(rows))
            }
        }
    }

    /// `attachprep quarantine lift`
    struct Lift: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lift", abstract: "Forget what is known of these files, so that they are tried again.")

        @Argument(help: ArgumentHelp("SHA-256 of the content, or its first digits.", valueName: "digest"))
        var digests: [String] = []
        @Flag(help: "Forget everything.") var all = false
        @OptionGroup var state: StateOptionGroup

        func validate() throws {
            guard all != !digests.isEmpty else { throw ValidationError("Give digests, or --all.") }
        }

        func run() throws {
            let quarantine = Quarantine(stateFolder: state.folder, logger: .quiet)
            var hasFailed = false
            do {
                if all { StandardStreams.result("\(try quarantine.liftAll()) lifted.") }
            } catch {
                hasFailed = Self.tell(error)
            }
            for digest in digests {
                do {
                    StandardStreams.result("\(try quarantine.lift(digest)) lifted.")
                } catch {
                    hasFailed = Self.tell(error)
                }
            }
            if hasFailed { throw CommandEnd.someRejected }
        }

        private static func tell(_ error: any Error) -> Bool {
            let sentence = (error as? AttachPrepError)?.message ?? "The state folder cannot be changed."
            StandardStreams.note("attachprep: \(TerminalText.safe(sentence))")
            return true
        }
    }
}

extension Logger {
    /// For commands that say themselves what is wrong.
    fileprivate static var quiet: Logger { Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() } }
}
