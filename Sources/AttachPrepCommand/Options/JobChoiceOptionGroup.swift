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
        help: ArgumentHelp("Only these: queued, running, succeeded, failed, dead, cancelled.", valueName: "status"))
    var status: [JobState] = []

    @Option(help: ArgumentHelp("Only what has this in its id, source or error code.", valueName: "text"))
    var search: String?

    @Option(help: ArgumentHelp("Only what is older, as in 12h or 7d.", valueName: "time"))
    var olderThan: DurationArgument?

    func filter() -> JobFilter {
        JobFilter(
            states: status.isEmpty ? nil : Set(status), search: search,
            createdBefore: olderThan.map { Date.now.addingTimeInterval(-$0.seconds) })
    }
}
