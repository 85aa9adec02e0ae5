import ArgumentParser

/// Results as people or programs read them.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}

/// The format of standard output, and how much is said beside it: shared by all subcommands.
struct ReportOptionGroup: ParsableArguments {
    @Option(help: "Results as text or json.")
    var format = OutputFormat.text

    @Flag(name: .shortAndLong, help: "Log what libraries said to standard error.")
    var verbose = false
}

/// Where results go: shared by `prepare` and `batch`.
struct OutputOptionGroup: ParsableArguments {
    @Option(help: ArgumentHelp("The folder in which a folder a source appears.", valueName: "dir"))
    var output = "./prepared"

    @Option(name: .customLong("base-url"), help: ArgumentHelp("Where that folder is served.", valueName: "url"))
    var baseURL: String?

    @Flag(help: "Skip what is in place already; failures are tried again.")
    var resume = false

    func validate() throws {
        // An empty path would be the root of the file system.
        guard !output.isEmpty else { throw ValidationError("--output is empty; give a folder.") }
    }
}
