import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import Logging
import MediaTypes
import SQLStore
import SQLiteDatabase

/// Access to jobs: over HTTP, or in a data folder.
protocol JobsClient: Sendable {
    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage
    func job(_ id: JobID) async throws -> Job
    func log(of id: JobID) async throws -> [JobLogLine]
    func retry(_ id: JobID) async throws -> Job
    func cancel(_ id: JobID) async throws -> Job
    /// Lets a queued job start at a time, or now for nil.
    func schedule(_ id: JobID, notBefore: Date?) async throws -> Job
    func purge(_ filter: JobFilter) async throws -> Int
    func retry(_ filter: JobFilter) async throws -> Int
    func cancel(_ filter: JobFilter) async throws -> Int
    func change(_ filter: JobFilter, to priority: JobPriority) async throws -> Int
    func pauses() async throws -> [JobPause]
    func pause(_ target: PauseTarget, reason: String?) async throws -> JobPause
    func resume(_ target: PauseTarget) async throws -> Bool
    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPageResponse
    func replay(_ filter: WebhookFilter) async throws -> Int
    func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage
    func campaign(_ name: CampaignName) async throws -> Campaign
    /// The processes that take jobs from the queue, by name.
    func workers() async throws -> [WorkerResponse]
    func close() async
}

/// Options that select a running service or a data folder.
struct JobsClientOptionGroup: ParsableArguments {
    @Option(help: "Output format: text or json.") var format = OutputFormat.text
    @OptionGroup var color: ColorOptionGroup

    @Option(
        help: ArgumentHelp(
            "URL of a running service, such as http://127.0.0.1:8080 (ATTACHPREP_URL).", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("File with the token for --url (or ATTACHPREP_TOKEN).", valueName: "file"))
    var tokenFile: String?

    @OptionGroup var data: DataOptionGroup

    private func open() async throws -> any JobsClient {
        let environment = ProcessInfo.processInfo.environment
        do {
            if let url { return try HTTPJobsClient(url: url, token: try token()) }
            if let url = environment["ATTACHPREP_URL"] { return try HTTPJobsClient(url: url, token: try token()) }
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
        guard let folder = data.folder else {
            throw ValidationError("No home folder for the data folder; give --data or --url.")
        }
        return try await Self.opened { try await StoreJobsClient(folder: folder) }
    }

    private static func opened(_ open: () async throws -> any JobsClient) async throws -> any JobsClient {
        do {
            return try await open()
        } catch {
            printError(error)
            throw ExitCodeError.someRejected
        }
    }

    private func token() throws -> String? {
        guard let tokenFile else { return ProcessInfo.processInfo.environment["ATTACHPREP_TOKEN"] }
        guard let tokens = TokenFile.tokens(in: tokenFile) else {
            throw ValidationError("Cannot read the --token-file \(tokenFile); check its path and permissions.")
        }
        return tokens.first
    }

    /// Runs work with a client; prints an error. The command exits with 1 if the work fails or returns false.
    func use(_ work: (any JobsClient, OutputFormat) async throws -> Bool) async throws {
        try await Interruption.cleaningUp(TemporaryDataFolder.removeAll) {
            let client = try await open()
            var isFine = false
            do {
                isFine = try await work(client, format)
            } catch {
                Self.printError(error)
            }
            await client.close()
            guard isFine else { throw ExitCodeError.someRejected }
        }
    }

    /// Prints a list page by page, at most `limit` items, or all for 0.
    ///
    /// - Parameters:
    ///   - none: the sentence for an empty list.
    ///   - page: returns the items after a cursor, at most a number of them, and the next cursor.
    func list<Item: Encodable, Cursor>(
        limit: Int, by _: Cursor.Type, none: String, table: ([Item]) -> TextTable,
        page: (any JobsClient, Cursor?, Int) async throws -> (items: [Item], next: Cursor?)
    ) async throws {
        try await use { client, format in
            var (cursor, left) = (Cursor?.none, limit == 0 ? Int.max : limit)
            repeat {
                let (items, next) = try await page(client, cursor, min(left, Limits.pageCountMax))
                if format == .json {
                    for item in items { StandardStreams.result(try JSONEncoder.singleLine.text(item)) }
                } else if cursor == nil, items.isEmpty {
                    StandardStreams.result(none)
                } else {
                    StandardStreams.result(table(items), isFirst: cursor == nil)
                }
                left -= items.count
                cursor = next
            } while cursor != nil && left > 0
            return true
        }
    }

    /// Calls `work` for each given job, or for all jobs in a state, and prints what it returns.
    func each(
        _ ids: [JobID], orAll state: JobState?, _ work: (any JobsClient, JobID, OutputFormat) async throws -> String
    ) async throws {
        try await use { client, format in
            var ids = ids
            if let state { ids = try await Self.all(state, of: client) }
            return await Self.each(ids) { try await work(client, $0, format) }
        }
    }

    /// Runs work for each name, and prints the returned texts.
    func each<Name>(_ names: [Name], _ work: (any JobsClient, Name, OutputFormat) async throws -> String) async throws {
        try await use { client, format in
            await Self.each(names) { try await work(client, $0, format) }
        }
    }

    private static func each<Name>(_ names: [Name], _ work: (Name) async throws -> String) async -> Bool {
        var isFine = true
        for name in names {
            do {
                StandardStreams.result(try await work(name))
            } catch {
                printError(error)
                isFine = false
            }
        }
        return isFine
    }

    private static func all(_ state: JobState, of client: any JobsClient) async throws -> [JobID] {
        var ids: [JobID] = []
        var cursor: JobID?
        repeat {
            let page = try await client.list(JobFilter(states: [state]), after: cursor, limit: Limits.pageCountMax)
            ids += page.jobs.map(\.id)
            cursor = page.next
        } while cursor != nil
        return ids
    }

    private static func printError(_ error: any Error) {
        let sentence = (error as? AttachPrepError)?.message ?? "Unexpected error: \(error)"
        StandardStreams.error(sentence)
    }
}

/// Access to the jobs in a data folder, even while a service uses it.
struct StoreJobsClient: JobsClient {
    private let store: SQLJobStore

    init(folder: String) async throws {
        store = try await SQLiteStore.open(folder: folder, role: .command, feed: JobFeed(), logger: .silent)
    }

    func close() async { await store.close() }

    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        try await store.list(filter, after: cursor, limit: limit)
    }

    func workers() async throws -> [WorkerResponse] {
        throw AttachPrepError(
            .requestInvalid, "Workers are listed only by a running service; give its URL with --url.")
    }

    func job(_ id: JobID) async throws -> Job {
        guard let job = try await store.job(id) else {
            throw AttachPrepError(.requestNotFound, "No job with ID \(id).")
        }
        return job
    }

    func log(of id: JobID) async throws -> [JobLogLine] { try await store.log(of: id) }
    func retry(_ id: JobID) async throws -> Job {
        try await recorded(.retry, detail: { _ in "job \(id)" }) { try await store.retry(id) }
    }

    func cancel(_ id: JobID) async throws -> Job {
        try await recorded(.cancel, detail: { _ in "job \(id)" }) { try await store.cancel(id) }
    }

    func schedule(_ id: JobID, notBefore: Date?) async throws -> Job {
        let detail = notBefore.map { "job \(id) to \(Timestamp.text($0))" } ?? "job \(id) to now"
        return try await recorded(.schedule, detail: { _ in detail }) {
            try await store.schedule(id, notBefore: notBefore)
        }
    }

    func purge(_ filter: JobFilter) async throws -> Int {
        try await recorded(.purge, detail: { "\($0) jobs: \(filter.summary)" }) { try await store.purge(filter) }
    }

    func retry(_ filter: JobFilter) async throws -> Int {
        try await recorded(.retry, detail: { "\($0) jobs: \(filter.summary)" }) { try await store.retry(filter) }
    }

    func cancel(_ filter: JobFilter) async throws -> Int {
        try await recorded(.cancel, detail: { "\($0) jobs: \(filter.summary)" }) { try await store.cancel(filter) }
    }

    func change(_ filter: JobFilter, to priority: JobPriority) async throws -> Int {
        try await recorded(.priority, detail: { "\($0) jobs to \(priority.rawValue): \(filter.summary)" }) {
            try await store.change(filter, to: priority)
        }
    }

    func pauses() async throws -> [JobPause] { try await store.pauses() }

    func pause(_ target: PauseTarget, reason: String?) async throws -> JobPause {
        try await recorded(.pause, detail: { _ in target.words }) {
            try await store.pause(target, reason: reason, by: nil)
        }
    }

    func resume(_ target: PauseTarget) async throws -> Bool {
        try await recorded(.resume, detail: { _ in target.words }) { try await store.resume(target) }
    }

    /// Runs an action and records it in the log of actions.
    private func recorded<Value>(
        _ kind: OperatorAction.Kind, detail: (Value) -> String, _ act: () async throws -> Value
    ) async throws -> Value {
        let value = try await act()
        try await store.record(OperatorAction(kind, detail(value), by: nil))
        return value
    }

    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPageResponse {
        let page = try await store.webhooks(filter, after: cursor, limit: limit)
        return WebhookPageResponse(webhooks: page.webhooks.map(WebhookSummary.init), next: page.next?.text)
    }

    func replay(_ filter: WebhookFilter) async throws -> Int {
        try await recorded(.replay, detail: { "\($0) webhooks" }) { try await store.replayWebhooks(filter) }
    }

    func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage {
        try await store.campaigns(after: cursor, limit: limit)
    }

    func campaign(_ name: CampaignName) async throws -> Campaign {
        try await Campaign(try await store.campaign(name), named: name, in: store)
    }
}
