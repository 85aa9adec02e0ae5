import ArgumentParser

/// When words are coloured.
enum ColourChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// On a terminal that can, unless `NO_COLOR` is set.
    case auto
    case always
    case never
}

/// Whether results for people have colours: shared by all subcommands that print rows.
struct ColourOptionGroup: ParsableArguments {
    @Option(
        name: .customLong("color"),
        help: "Colours: auto (on a terminal, unless NO_COLOR is set), always or never.")
    var choice = ColourChoice.auto

    /// The streams belong to the process, and so does this: it holds from before the first line is written.
    func validate() {
        StandardStreams.colour = choice
    }
}
