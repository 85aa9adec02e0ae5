import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepService
import RichPush

/// `attachprep webhooks list|replay`
struct WebhooksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "List webhooks and send them again.",
        discussion: """
            Uses a running service with --url, NATS servers with --queue, else the data folder, even while a service \
            uses it.
            """,
        subcommands: [List.self, Replay.self])

    /// `attachprep webhooks list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List webhooks, latest first.")

        @Option(
            help: ArgumentHelp(
                "Only webhooks with this status: pending, delivered, givenUp; repeatable.", valueName: "status"))
        var status: [WebhookState] = []
        @Option(help: ArgumentHelp("Only webhooks of this job.", valueName: "id")) var job: JobID?
        @Option(help: ArgumentHelp("Maximum number of webhooks; 0 for all.", valueName: "n"))
        var limit = Limits.pageCount
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
        }

        func run() async throws {
            let filter = WebhookFilter(states: status.isEmpty ? nil : Set(status), job: job)
            try await client.use { client, format in
                var cursor: WebhookID?
                var left = limit == 0 ? Int.max : limit
                repeat {
                    let page = try await client.webhooks(
                        filter, after: cursor, limit: min(left, Limits.pageCountMax))
                    if format == .json {
                        for row in page.webhooks { StandardStreams.result(try JobRow.json(row)) }
                    } else {
                        StandardStreams.result(WebhookListItem.table(page.webhooks), isFirst: cursor == nil)
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

/// A webhook as JSON or as a table row, without its body and with a redacted URL.
struct WebhookListItem: Codable, Sendable, Hashable {
    var id: String
    var job: String
    var url: String
    var event: WebhookNotice.Event
    var state: WebhookState
    var attempts: Int
    var createdAt: String
    var nextAt: String?
    var endedAt: String?
    var lastStatus: Int?
    var lastError: String?

    private enum CodingKeys: String, CodingKey {
        case id, job, url
        case event = "type"
        case state, attempts, createdAt, nextAt, endedAt, lastStatus, lastError
    }

    init(_ webhook: Webhook) {
        id = webhook.id.text
        job = webhook.job.text
        url = RedactedURL.redact(webhook.notice.url)
        event = webhook.notice.event
        state = webhook.state
        attempts = webhook.attempts
        createdAt = Timestamp.text(webhook.createdAt)
        nextAt = webhook.nextAt.map(Timestamp.text)
        endedAt = webhook.endedAt.map(Timestamp.text)
        lastStatus = webhook.lastStatus
        lastError = webhook.lastError
    }

    /// The webhooks as a table.
    static func table(_ rows: [WebhookListItem]) -> TextTable {
        TextTable(
            columns: [
                TextTable.Column(title: "webhook", isAddress: true), TextTable.Column(title: "status", width: 9),
                TextTable.Column(title: "event", width: 19),
                TextTable.Column(title: "tries", isNumber: true, width: 3), TextTable.Column(title: "created"),
                TextTable.Column(title: "receiver", isAddress: true), TextTable.Column(title: "answer"),
            ],
            rows: rows.map(\.cells),
            concessions: [
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
