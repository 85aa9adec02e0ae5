import ArgumentParser
import AttachPrep

/// Results as people or programs read them.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}

/// The format of standard output, and how much is said beside it: shared by all subcommands.
struct ReportOptionGroup: ParsableArguments {
    @Option(help: "Results as text or json.")
    var format = OutputFormat.text

    @OptionGroup var colour: ColourOptionGroup

    @Flag(name: .shortAndLong, help: "Log what libraries said to standard error.")
    var verbose = false
}

/// Where results go: shared by `prepare` and `batch`.
struct OutputOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder in which a folder a source appears (default: ./prepared).", valueName: "dir"))
    var output: String?

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp("Where that folder, or what is published, is served.", valueName: "url"))
    var baseURL: String?

    @Flag(help: "Skip what is in place already; failures are tried again.")
    var resume = false

    func validate() throws {
        // An empty path would be the root of the file system.
        guard output?.isEmpty != true else { throw ValidationError("--output is empty; give a folder.") }
    }

    /// Where results are made: what is published elsewhere leaves nothing there.
    func folder(for place: PublishPlace) -> String {
        output ?? (place.isRemote ? PreparerConfiguration.scratchFolder : Self.standardFolder)
    }

    private static let standardFolder = "./prepared"
}
