import ArgumentParser
import AttachPrepJobs
import RichPush

/// `attachprep webhooks list|replay`
struct WebhooksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "List and replay what callers are told.",
        discussion: "Of a running service with --url, else of the data folder, which may be in use.",
        subcommands: [List.self, Replay.self])

    /// `attachprep webhooks list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Webhooks, the latest first.")

        @Option(help: ArgumentHelp("Only these: pending, delivered, givenUp.", valueName: "status"))
        var status: [WebhookState] = []
        @Option(help: ArgumentHelp("Only of this job.", valueName: "id")) var job: JobID?
        @Option(help: ArgumentHelp("At most so many; 0 for all.", valueName: "n")) var limit = Limits.pageCount
        @OptionGroup var desk: DeskOptionGroup

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit is 0 or more.") }
        }

        func run() async throws {
            let filter = WebhookFilter(states: status.isEmpty ? nil : Set(status), job: job)
            try await desk.use { desk, format in
                var cursor: WebhookID?
                var left = limit == 0 ? Int.max : limit
                repeat {
                    let page = try await desk.webhooks(
                        filter, after: cursor, limit: min(left, Limits.pageCountMax))
                    if format == .json {
                        for row in page.webhooks { StandardStreams.result(try JobRow.json(row)) }
                    } else {
                        StandardStreams.result(WebhookRow.table(page.webhooks), isFirst: cursor == nil)
                    }
                    if page.webhooks.isEmpty, cursor == nil, format == .text {
                        StandardStreams.result("No matching webhooks.")
                    }
                    left -= page.webhooks.count
                    cursor = page.next.flatMap { WebhookID($0) }
                } while cursor != nil && left > 0
                return true
            }
        }
    }

    /// `attachprep webhooks replay`
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Send webhooks again, under their ids, with the schedule from its beginning.")

        @Argument(help: ArgumentHelp("Ids of webhooks.", valueName: "id")) var ids: [WebhookID] = []
        @Flag(help: "All that were given up.") var allGivenUp = false
        @OptionGroup var desk: DeskOptionGroup

        func validate() throws {
            guard allGivenUp != !ids.isEmpty else { throw ValidationError("Give ids, or --all-given-up.") }
        }

        func run() async throws {
            let filter = allGivenUp ? WebhookFilter(states: [.givenUp]) : WebhookFilter(ids: ids)
            try await desk.use { desk, _ in
                let count = try await desk.replay(filter)
                StandardStreams.result("\(count) will be sent again.")
                return allGivenUp || count == Set(ids).count
            }
        }
    }
}
