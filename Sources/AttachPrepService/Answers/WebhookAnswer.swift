import AttachPrep
import AttachPrepJobs

/// A webhook as it is listed: its address redacted, without its body.
struct WebhookAnswer: Encodable {
    private let webhook: Webhook

    init(_ webhook: Webhook) {
        self.webhook = webhook
    }

    private enum CodingKeys: String, CodingKey {
        case id, job, type, url, state, attempts, createdAt, nextAt, endedAt, lastStatus, lastError
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(webhook.id.text, forKey: .id)
        try values.encode(webhook.job, forKey: .job)
        try values.encode(webhook.notice.event, forKey: .type)
        try values.encode(RedactedURL.redact(webhook.notice.url), forKey: .url)
        try values.encode(webhook.state, forKey: .state)
        try values.encode(webhook.attempts, forKey: .attempts)
        try values.encode(Timestamp.text(webhook.createdAt), forKey: .createdAt)
        try values.encode(webhook.nextAt.map(Timestamp.text), forKey: .nextAt)
        try values.encode(webhook.endedAt.map(Timestamp.text), forKey: .endedAt)
        try values.encode(webhook.lastStatus, forKey: .lastStatus)
        try values.encode(webhook.lastError, forKey: .lastError)
    }
}

/// A page of webhooks.
struct WebhookPageAnswer: Encodable {
    private let page: WebhookPage

    init(_ page: WebhookPage) {
        self.page = page
    }

    private enum CodingKeys: String, CodingKey {
        case webhooks, next
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(page.webhooks.map(WebhookAnswer.init), forKey: .webhooks)
        try values.encode(page.next?.text, forKey: .next)
    }
}

/// How many webhooks are sent again.
struct ReplayAnswer: Encodable {
    var replayed: Int
}
