import ArgumentParser
import AttachPrepJobs
import RichPush

/// `attachprep jobs list|show|retry|cancel|purge`
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List, show, retry, cancel and purge jobs.",
        discussion: """
            Of a running service with --url, else of the data folder, which may be in use. Dead letters are the jobs \
            of status dead.
            """,
        subcommands: [List.self, Show.self, Retry.self, Cancel.self, Purge.self])

    /// `attachprep jobs list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Jobs, the latest first.")

        @OptionGroup var choice: JobChoiceOptionGroup
        @Option(help: ArgumentHelp("At most so many; 0 for all.", valueName: "n")) var limit = Limits.pageCount
        @OptionGroup var desk: DeskOptionGroup

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit is 0 or more.") }
        }

        func run() async throws {
            try await desk.use { desk, format in
                var cursor: JobID?
                var left = limit == 0 ? Int.max : limit
                repeat {
                    let page = try await desk.list(
                        choice.filter(), after: cursor, limit: min(left, Limits.pageCountMax))
                    if format == .json {
                        for job in page.jobs { StandardStreams.result(try JobRow(job).json()) }
                    } else {
                        StandardStreams.result(JobTable.table(page.jobs), isFirst: cursor == nil)
                    }
                    left -= page.jobs.count
                    if page.jobs.isEmpty, cursor == nil, format == .text { StandardStreams.result("No matching jobs.") }
                    cursor = page.next
                } while cursor != nil && left > 0
                return true
            }
        }
    }

    /// `attachprep jobs show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "All there is to say of jobs, their log lines included.")

        @Argument(help: ArgumentHelp("Ids of jobs.", valueName: "id")) var ids: [JobID]
        @OptionGroup var desk: DeskOptionGroup

        func run() async throws {
            try await desk.each(ids) { desk, id, format in
                let job = try await desk.job(id)
                if format == .json { return try JobRow(job).json() }
                return JobRow(job).whole(log: try await desk.log(of: id))
            }
        }
    }

    /// `attachprep jobs retry`
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Queue failed, dead and cancelled jobs again.")

        @Argument(help: ArgumentHelp("Ids of jobs.", valueName: "id")) var ids: [JobID] = []
        @Flag(help: "All dead letters.") var allDead = false
        @OptionGroup var desk: DeskOptionGroup

        func validate() throws {
            guard allDead != !ids.isEmpty else { throw ValidationError("Give ids, or --all-dead.") }
        }

        func run() async throws {
            try await desk.each(ids, orAll: allDead ? .dead : nil) { desk, id, format in
                let job = try await desk.retry(id)
                return format == .json ? try JobRow(job).json() : "\(id) queued"
            }
        }
    }

    /// `attachprep jobs cancel`
    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel", abstract: "Call jobs off; running ones end when their worker hears of it.")

        @Argument(help: ArgumentHelp("Ids of jobs.", valueName: "id")) var ids: [JobID] = []
        @Flag(help: "All that wait.") var allQueued = false
        @OptionGroup var desk: DeskOptionGroup

        func validate() throws {
            guard allQueued != !ids.isEmpty else { throw ValidationError("Give ids, or --all-queued.") }
        }

        func run() async throws {
            try await desk.each(ids, orAll: allQueued ? .queued : nil) { desk, id, format in
                let job = try await desk.cancel(id)
                return format == .json ? try JobRow(job).json() : "\(id) \(job.state.rawValue)"
            }
        }
    }

    /// `attachprep jobs purge`
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "purge", abstract: "Remove finished jobs for good, with their logs and files.")

        @OptionGroup var choice: JobChoiceOptionGroup
        @Argument(help: ArgumentHelp("Ids of jobs.", valueName: "id")) var ids: [JobID] = []
        @OptionGroup var desk: DeskOptionGroup

        func validate() throws {
            guard !ids.isEmpty || !choice.status.isEmpty else {
                throw ValidationError("Say which: ids, or --status dead, failed, succeeded or cancelled.")
            }
        }

        func run() async throws {
            try await desk.use { desk, _ in
                var filter = choice.filter()
                if !ids.isEmpty { filter.ids = ids }
                StandardStreams.result("\(try await desk.purge(filter)) purged.")
                return true
            }
        }
    }
}
