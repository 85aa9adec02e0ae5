import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import Logging
import MediaTypes

/// `attachprep quarantine list|lift`
struct QuarantineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "List and release quarantined files.",
        discussion: """
            A file that ends its media process twice, by a crash or by exceeding its memory or CPU time limit, is \
            blocked from then on. Files are identified by the SHA-256 of their content.
            """,
        subcommands: [List.self, Lift.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List files that ended their media process, latest first.")

        @Option(help: "Output format: text or json.") var format = OutputFormat.text
        @OptionGroup var color: ColorOptionGroup
        @OptionGroup var data: DataOptionGroup

        func run() throws {
            let entries = Quarantine(dataFolder: data.folder, logger: .silent).entries()
            let rows = entries.map(QuarantineRow.init)
            if format == .json {
                for row in rows { StandardStreams.result(try row.json()) }
            } else if rows.isEmpty {
                StandardStreams.result("No quarantined files.")
            } else {
                StandardStreams.result(QuarantineRow.table(rows))
            }
        }
    }

    struct Lift: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lift", abstract: "Remove files from the quarantine, so that they are processed again.")

        @Argument(help: ArgumentHelp("SHA-256 of the content, or its first digits.", valueName: "digest"))
        var digests: [String] = []
        @Flag(help: "Remove all files from the quarantine.") var all = false
        @OptionGroup var data: DataOptionGroup

        func validate() throws {
            guard all != !digests.isEmpty else { throw ValidationError("Give digests, or --all.") }
        }

        func run() throws {
            let quarantine = Quarantine(dataFolder: data.folder, logger: .silent)
            var hasFailed = false
            do {
                if all { StandardStreams.result("\(try quarantine.liftAll()) lifted.") }
            } catch {
                hasFailed = Self.printError(error)
            }
            for digest in digests {
                do {
                    StandardStreams.result("\(try quarantine.lift(digest)) lifted.")
                } catch {
                    hasFailed = Self.printError(error)
                }
            }
            if hasFailed { throw ExitCodeError.someRejected }
        }

        private static func printError(_ error: any Error) -> Bool {
            let sentence = (error as? AttachPrepError)?.message ?? "Cannot write to the data folder."
            StandardStreams.error(sentence)
            return true
        }
    }
}

/// An entry of the quarantine, as JSON or as a table row.
struct QuarantineRow: Encodable {
    let digest: String
    /// Whether `digest` is that of the whole content or of the first bytes, if only those were read.
    let subject: QuarantineEntry.Subject
    let isQuarantined: Bool
    let strikes: Int
    let first: Date
    let last: Date
    /// How the media process ended the last time.
    let ending: String
    let source: String

    init(_ entry: QuarantineEntry) {
        digest = entry.digest
        subject = entry.subject
        isQuarantined = entry.isQuarantined
        strikes = entry.strikes.count
        first = entry.strikes.first?.date ?? .distantPast
        last = entry.strikes.last?.date ?? .distantPast
        ending = entry.strikes.last?.ending ?? ""
        source = entry.strikes.last?.source ?? ""
    }

    func json() throws -> String {
        let encoder = JSONEncoder.singleLine
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.text(self)
    }

    static func table(_ rows: [QuarantineRow]) -> TextTable {
        TextTable(
            columns: ["content", "status", "last", "ending"].map { TextTable.Column(title: $0) }
                + [TextTable.Column(title: "source", isAddress: true)],
            rows: rows.map(\.cells),
            // The first digits of a digest are enough to lift it.
            narrowingSteps: [
                .narrow("content", to: 16), .narrow("source", to: 24), .narrow("ending", to: 16), .leaveOut("last"),
                .narrow("source", to: 12), .leaveOut("ending"), .narrow("content", to: 9), .narrow("source", to: 1),
            ])
    }

    private var cells: [StyledText] {
        [
            StyledText(digest),
            isQuarantined ? StyledText("blocked", .bad) : StyledText("one strike", .warning),
            StyledText(last.formatted(.iso8601), .dim), StyledText(ending), StyledText(source),
        ]
    }
}
