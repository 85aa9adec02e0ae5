import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import MediaTypes

/// `attachprep jobs list|show|workers|retry|snooze|run|cancel|purge|priority|pause|resume|pauses`
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List, show, retry, reschedule, cancel, purge and pause jobs, and list workers.",
        discussion: """
            Uses a running service with --url, else the data folder, even while a service uses it. Jobs of state dead \
            have failed until their retries were used up.
            """,
        subcommands: [
            List.self, Show.self, Workers.self, Retry.self, Snooze.self, Run.self, Cancel.self, Purge.self,
            Priority.self, Pause.self, Resume.self, Pauses.self, Migrate.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List jobs, latest first.")

        @OptionGroup var choice: JobFilterOptionGroup
        @OptionGroup var further: JobListFilterOptionGroup
        @Option(help: ArgumentHelp("Maximum number of jobs; 0 for all.", valueName: "n")) var limit = Limits.pageCount
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
        }

        func run() async throws {
            try await client.list(limit: limit, by: JobID.self, none: "No matching jobs.", table: JobTable.table) {
                client, cursor, count in
                let filter = further.applied(to: choice.filter())
                let page = try await client.list(filter, after: cursor, limit: count)
                return (page.jobs, page.next)
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show all details of jobs, with their log lines.")

        @Argument(help: ArgumentHelp("IDs of jobs.", valueName: "id")) var ids: [JobID]
        @OptionGroup var client: JobsClientOptionGroup

        func run() async throws {
            try await client.each(ids) { client, id, format in
                let job = try await client.job(id)
                if format == .json { return try JSONEncoder.singleLine.text(job) }
                return JobRow(job: job).details(log: try await client.log(of: id))
            }
        }
    }

    struct Workers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "workers", abstract: "List the processes that take jobs from the queue, with their load.",
            discussion: """
                Uses a running service with --url. A worker is listed until it ends, \
                or 30 s after its last report.
                """)

        @OptionGroup var client: JobsClientOptionGroup

        func run() async throws {
            try await client.use { client, format in
                let workers = try await client.workers()
                if format == .json {
                    for worker in workers { StandardStreams.result(try JSONEncoder.singleLine.text(worker)) }
                } else if workers.isEmpty {
                    StandardStreams.result("No worker has reported in the last 30 s.")
                } else {
                    StandardStreams.result(WorkerTable.table(workers), isFirst: true)
                }
                return true
            }
        }
    }

    struct Snooze: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "snooze", abstract: "Let queued jobs start later.")

        @Argument(help: ArgumentHelp("IDs of jobs.", valueName: "id")) var ids: [JobID]
        @Option(
            name: .customLong("for"),
            help: ArgumentHelp("Not before this time has passed, such as 30m or 2h.", valueName: "time"))
        var duration: DurationArgument?
        @Option(help: ArgumentHelp("Not before this time, such as 2026-11-21T20:51:02Z.", valueName: "time"))
        var until: TimeArgument?
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard (duration != nil) != (until != nil) else { throw ValidationError("Give either --for or --until.") }
        }

        func run() async throws {
            let date = until?.date ?? Date.now.addingTimeInterval(duration?.seconds ?? 0)
            try await client.each(ids) { client, id, format in
                let job = try await client.schedule(id, notBefore: date)
                return format == .json
                    ? try JSONEncoder.singleLine.text(job) : "\(id) queued, not before \(Timestamp.text(date))"
            }
        }
    }

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run", abstract: "Let queued jobs start now, whatever they wait for.",
            discussion: "Jobs wait for --for of jobs snooze, their notBefore, or the next attempt.")

        @Argument(help: ArgumentHelp("IDs of jobs.", valueName: "id")) var ids: [JobID]
        @OptionGroup var client: JobsClientOptionGroup

        func run() async throws {
            try await client.each(ids) { client, id, format in
                let job = try await client.schedule(id, notBefore: nil)
                return format == .json ? try JSONEncoder.singleLine.text(job) : "\(id) queued"
            }
        }
    }

    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "purge", abstract: "Delete finished jobs with their logs and files.")

        @OptionGroup var choice: JobFilterOptionGroup
        @Argument(help: ArgumentHelp("IDs of jobs.", valueName: "id")) var ids: [JobID] = []
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard !ids.isEmpty || choice.isGiven else {
                throw ValidationError("Give IDs, or a filter such as --state dead or --batch ID.")
            }
        }

        func run() async throws {
            try await client.use { client, _ in
                var filter = choice.filter()
                if !ids.isEmpty { filter.ids = ids }
                StandardStreams.result("\(try await client.purge(filter)) purged.")
                return true
            }
        }
    }
}

struct JobFilterOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only jobs with this state: queued, running, succeeded, failed, dead, cancelled; repeatable.",
            valueName: "state"))
    var state: [JobState] = []

    @Option(help: ArgumentHelp("Only jobs with this text in their ID, source or error code.", valueName: "text"))
    var search: String?

    @Option(help: ArgumentHelp("Only jobs whose request has exactly this id.", valueName: "id"))
    var callerID: String?

    @Option(help: ArgumentHelp("Only jobs of this batch.", valueName: "id")) var batch: String?

    @Option(help: ArgumentHelp("Only jobs that were submitted with this Idempotency-Key.", valueName: "key"))
    var idempotencyKey: String?

    @Option(help: ArgumentHelp("Only jobs with this tag; repeatable, all must match.", valueName: "tag"))
    var tag: [String] = []

    @Option(help: ArgumentHelp("Only jobs whose source has this host name.", valueName: "name")) var host: String?

    @Option(help: ArgumentHelp("Only failed and dead jobs with this error code; repeatable.", valueName: "code"))
    var error: [ErrorCode] = []

    @Option(help: ArgumentHelp("Only jobs created longer ago, such as 12h or 7d.", valueName: "time"))
    var olderThan: DurationArgument?

    func validate() throws {
        do {
            _ = try host.map(PauseTarget.hostName)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }

    func filter() -> JobFilter {
        var filter = JobFilter(
            states: state.isEmpty ? nil : Set(state), search: search,
            createdBefore: olderThan.map { Date.now.addingTimeInterval(-$0.seconds) },
            errors: error.isEmpty ? nil : Set(error))
        (filter.callerID, filter.batch, filter.idempotencyKey) = (callerID, batch, idempotencyKey)
        filter.tags = tag
        filter.host = host.flatMap { try? PauseTarget.hostName($0) }
        return filter
    }

    /// Whether it restricts the selection.
    var isGiven: Bool { filter() != JobFilter() }
}

/// Filters of `jobs list` alone.
struct JobListFilterOptionGroup: ParsableArguments {
    @Option(help: ArgumentHelp("Only jobs created within this time, such as 1h or 2d.", valueName: "time"))
    var newerThan: DurationArgument?

    @Option(help: ArgumentHelp("Only jobs whose attachment is an image, audio or movie.", valueName: "kind"))
    var kind: MediaKind?

    func applied(to filter: JobFilter) -> JobFilter {
        var filter = filter
        filter.createdAfter = newerThan.map { Date.now.addingTimeInterval(-$0.seconds) }
        filter.kind = kind
        return filter
    }
}

enum JobTable {
    static func table(_ jobs: [Job]) -> TextTable {
        let isNamed = jobs.contains { $0.request.id != nil }
        return TextTable(
            columns: [
                TextTable.Column(title: "job", isAddress: true), TextTable.Column(title: "state", width: 9),
                TextTable.Column(title: "tries", isNumber: true, width: 3), TextTable.Column(title: "created"),
                TextTable.Column(title: "result", width: 9), TextTable.Column(title: "id"),
                TextTable.Column(title: "source", isAddress: true),
            ],
            rows: jobs.map(row),
            narrowingSteps: isNamed ? narrowingStepsWithIDs : [.leaveOut("id")] + narrowingSteps, hasHeadInFiles: true)
    }

    /// Job IDs are for copying, so they are narrowed last.
    private static let narrowingSteps: [TextTable.NarrowingStep] = [
        .narrow("source", to: 20), .leaveOut("tries"), .leaveOut("created"), .narrow("source", to: 12),
        .narrow("result", to: 12), .leaveOut("result"), .narrow("job", to: 13), .narrow("source", to: 1),
    ]

    /// If jobs have IDs given by the caller, the source is omitted first.
    private static let narrowingStepsWithIDs: [TextTable.NarrowingStep] = [
        .narrow("source", to: 20), .leaveOut("tries"), .leaveOut("created"), .narrow("source", to: 12),
        .narrow("id", to: 20), .leaveOut("source"), .narrow("result", to: 12), .narrow("id", to: 12),
        .leaveOut("result"), .narrow("job", to: 13), .narrow("id", to: 1),
    ]

    private static func row(_ job: Job) -> [StyledText] {
        let failure = job.error.map { StyledText($0.code.rawValue, .bad) }
        let outcome = job.result.map { StyledText($0.outcome.rawValue, TerminalStyle($0.outcome)) }
        return [
            StyledText(job.id.text), StyledText(job.state.rawValue, TerminalStyle(job.state)),
            StyledText("\(job.attempts)"), StyledText(Timestamp.text(job.createdAt), .dim),
            failure ?? outcome ?? StyledText(), StyledText(job.request.id ?? ""), StyledText(job.request.source),
        ]
    }
}

enum WorkerTable {
    static func table(_ workers: [WorkerResponse]) -> TextTable {
        TextTable(
            columns: [
                TextTable.Column(title: "worker", isAddress: true), TextTable.Column(title: "jobs", isNumber: true),
                TextTable.Column(title: "of", isNumber: true), TextTable.Column(title: "slots", isNumber: true),
                TextTable.Column(title: "version"), TextTable.Column(title: "started"),
                TextTable.Column(title: "reported"), TextTable.Column(title: "status"),
            ],
            rows: workers.map { worker in
                [
                    StyledText(worker.name), StyledText("\(worker.running)"), StyledText("\(worker.concurrency)"),
                    StyledText("\(worker.mediaSlots)"), StyledText(worker.version), StyledText(worker.startedAt, .dim),
                    StyledText(worker.reportedAt, .dim), status(worker),
                ]
            },
            narrowingSteps: [
                .leaveOut("started"), .leaveOut("slots"), .narrow("worker", to: 12), .leaveOut("reported"),
            ],
            hasHeadInFiles: true)
    }
}

extension WorkerTable {
    private static func status(_ worker: WorkerResponse) -> StyledText {
        if worker.draining { return StyledText("draining") }
        let names = worker.outages.map(\.dependency.rawValue).joined(separator: ", ")
        return names.isEmpty ? StyledText("working") : StyledText("waits for \(names)", .bad)
    }
}

/// The text output of `jobs show`.
struct JobRow {
    let job: Job

    func details(log: [JobLogLine]) -> String {
        var lines = [("job", job.id.text)]
        if let id = job.request.id { lines.append(("id", id)) }
        lines += [
            ("state", job.state.rawValue), ("source", job.request.source),
            ("attempts", "\(job.attempts)"), ("created", Timestamp.text(job.createdAt)),
        ]
        if let startedAt = job.startedAt { lines.append(("started", Timestamp.text(startedAt))) }
        if let finishedAt = job.finishedAt { lines.append(("finished", Timestamp.text(finishedAt))) }
        if let worker = job.worker { lines.append(("worker", worker)) }
        if let due = job.dueAt { lines.append((due > .now ? "starts" : "due since", Timestamp.text(due))) }
        if let start = job.request.jobOptions.notBefore { lines.append(("not before", Timestamp.text(start))) }
        if let batch = job.origin.batch { lines.append(("batch", batch)) }
        if let key = job.origin.idempotencyKey { lines.append(("key", key)) }
        if !job.request.jobOptions.tags.isEmpty {
            lines.append(("tags", job.request.jobOptions.tags.joined(separator: ", ")))
        }
        if let callback = job.request.jobOptions.callbackURL { lines.append(("callback", callback)) }
        if let result = job.result {
            lines.append(("outcome", result.outcome.rawValue))
            lines += result.reasons.map { ("why", $0) }
            if let file = result.attachment { lines.append(("attachment", Self.text(file))) }
        }
        if let error = job.error { lines.append(("error", "\(error.code.rawValue): \(error.message)")) }
        lines += log.map { ("log", "\(Timestamp.text($0.date)) \($0.level) \($0.text)") }
        let display = StandardStreams.output
        return lines.map { display.paragraph(style($0.0, text: $0.1)) }.joined(separator: "\n")
    }

    private static func text(_ file: ManifestFile) -> String {
        "\(file.url ?? file.file), \(file.uti), \(file.bytes.grouped) bytes"
    }

    private func style(_ label: String, text: String) -> StyledText {
        let isState = label == "state"
        let style: TerminalStyle = isState ? TerminalStyle(job.state) : label == "error" ? .bad : .plain
        return StyledText(label, .dim).filled(to: 11) + StyledText(text, style)
    }
}
