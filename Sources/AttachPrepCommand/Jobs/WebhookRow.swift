import AttachPrep
import AttachPrepJobs

/// One webhook as it is shown: without its body, and with its address redacted.
struct WebhookRow: Codable, Sendable, Hashable {
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

    /// Webhooks below each other, as a person reads them.
    static func table(_ rows: [WebhookRow]) -> TextTable {
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
