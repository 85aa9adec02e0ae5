import ArgumentParser
import AttachPrepJobs

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which jobs are meant.
struct JobChoiceOptionGroup: ParsableArguments {
    @Option(
        name: .customLong("status"),
        help: ArgumentHelp("Only these: queued, running, succeeded, failed, dead, cancelled.", valueName: "state"))
    var status: [JobState] = []

    @Option(help: ArgumentHelp("Only what has this in its id, source or error code.", valueName: "text"))
    var search: String?

    @Option(help: ArgumentHelp("Only what is older, as in 12h or 7d.", valueName: "time"))
    var olderThan: AgeArgument?

    func filter() -> JobFilter {
        JobFilter(
            states: status.isEmpty ? nil : Set(status), search: search,
            createdBefore: olderThan.map { Date.now.addingTimeInterval(-$0.seconds) })
    }
}

/// `30s`, `10m`, `12h`, `7d`.
struct AgeArgument: ExpressibleByArgument {
    let seconds: Double

    init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Double(argument.dropLast()), number >= 0
        else { return nil }
        seconds = number * unit
    }
}
