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

    /// As a person reads it.
    var text: String {
        let ending = [lastStatus.map { "\($0)" }, lastError].compactMap { $0 }.joined(separator: " ")
        let columns = [
            id, TerminalText.column(state.rawValue, 9), TerminalText.column(event.rawValue, 19),
            TerminalText.column("\(attempts)", 3, right: true), createdAt, url, ending,
        ]
        return TerminalText.safe(columns.joined(separator: "  "))
    }
}
