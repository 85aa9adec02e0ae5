import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import MediaTypes

/// `attachprep webhooks list|replay`
struct WebhooksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "List webhooks and send them again.",
        discussion: """
            Uses a running service with --url, else the data folder, even while a service uses it.
            """,
        subcommands: [List.self, Replay.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List webhooks, latest first.")

        @Option(
            help: ArgumentHelp(
                "Only webhooks with this state: pending, delivered, givenUp; repeatable.", valueName: "state"))
        var state: [WebhookState] = []
        @Option(help: ArgumentHelp("Only webhooks of this job.", valueName: "id")) var job: JobID?
        @Option(help: ArgumentHelp("Maximum number of webhooks; 0 for all.", valueName: "n"))
        var limit = Limits.pageCount
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
        }

        func run() async throws {
            let filter = WebhookFilter(states: state.isEmpty ? nil : Set(state), job: job)
            try await client.list(
                limit: limit, by: WebhookID.self, none: "No matching webhooks.", table: WebhookSummary.table
            ) { client, cursor, count in
                let page = try await client.webhooks(filter, after: cursor, limit: count)
                return (page.webhooks, page.next.flatMap { WebhookID($0) })
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Send webhooks again with the same IDs, restarting the retry schedule.")

        @Argument(help: ArgumentHelp("IDs of webhooks.", valueName: "id")) var ids: [WebhookID] = []
        @Flag(help: "Send all webhooks again that were given up.") var allGivenUp = false
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard allGivenUp != !ids.isEmpty else { throw ValidationError("Give either IDs or --all-given-up.") }
        }

        func run() async throws {
            let filter = allGivenUp ? WebhookFilter(states: [.givenUp]) : WebhookFilter(ids: ids)
            try await client.use { client, _ in
                let count = try await client.replay(filter)
                StandardStreams.result("\(count) will be sent again.")
                return allGivenUp || count == Set(ids).count
            }
        }
    }
}

extension WebhookSummary {
    static func table(_ rows: [WebhookSummary]) -> TextTable {
        TextTable(
            columns: [
                TextTable.Column(title: "webhook", isAddress: true), TextTable.Column(title: "state", width: 9),
                TextTable.Column(title: "event", width: 19),
                TextTable.Column(title: "tries", isNumber: true, width: 3), TextTable.Column(title: "created"),
                TextTable.Column(title: "receiver", isAddress: true), TextTable.Column(title: "answer"),
            ],
            rows: rows.map(\.cells),
            narrowingSteps: [
                .narrow("receiver", to: 24), .leaveOut("created"), .leaveOut("tries"), .narrow("receiver", to: 16),
                .narrow("answer", to: 12), .leaveOut("event"), .narrow("webhook", to: 13), .leaveOut("answer"),
                .narrow("receiver", to: 1),
            ], hasHeadInFiles: true)
    }

    private var cells: [StyledText] {
        let ending = [lastStatus.map { "\($0)" }, lastError].compactMap { $0 }.joined(separator: " ")
        return [
            StyledText(id), StyledText(state.rawValue, TerminalStyle(state)), StyledText(event.rawValue),
            StyledText("\(attempts)"), StyledText(createdAt, .dim), StyledText(url),
            StyledText(ending, lastError == nil ? .plain : .bad),
        ]
    }
}
