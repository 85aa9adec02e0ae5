import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes

/// A row of `webhook`.
///
/// `url` is redacted, and `body` without the secret of sealed files. What they are with their secrets is in `secret`,
/// which is NULL when there are none, and empty once they were deleted after the delivery. Such a webhook can be
/// replayed while its job still has its secrets, as failed and dead jobs do until they are purged.
enum WebhookRow {
    static let columns = """
        id, job, url, event, body, state, attempts, created_at, next_at, ended_at, last_status, last_error, trace, \
        secret
        """

    /// The id of the job's request, for webhooks that are shown.
    static let callerID = """
        coalesce((SELECT caller_id FROM finished_job WHERE finished_job.id = webhook.job), \
        (SELECT caller_id FROM job WHERE job.id = webhook.job))
        """

    /// - Parameter secrets: nil for a webhook that is only shown.
    static func webhook(_ row: SQLRow, _ secrets: SecretStorage? = nil) throws -> Webhook {
        guard let id = WebhookID(row[0]), let job = JobID(row[1]), let event = WebhookNotice.Event(rawValue: row[3]),
            let state = WebhookState(rawValue: row[5])
        else { throw StorageErrors.unreadable("a webhook") }
        var content = SecretWebhookParts(url: row[2], body: row[4])
        if let secrets, let secret: String = row[13], secret != JobSecrets.wiped {
            let opened = try SecretWebhookParts(stored: secrets.opened(secret, for: id.text))
            content = SecretWebhookParts(url: opened.url, body: opened.body ?? row[4])
        }
        let notice = WebhookNotice(url: content.url, event: event, body: content.body ?? "")
        var webhook = Webhook(
            id: id, job: job, notice: notice, state: state,
            attempts: row[6], createdAt: Date(milliseconds: row[7]))
        webhook.nextAt = (row[8] as Int64?).map { Date(milliseconds: $0) }
        webhook.endedAt = (row[9] as Int64?).map { Date(milliseconds: $0) }
        webhook.lastStatus = row[10]
        webhook.lastError = row[11]
        webhook.callerID = row[14]
        // An unreadable one must not stop the webhook.
        webhook.notice.trace = (row[12] as String?).flatMap { try? StoredJSON.value($0, "a webhook's trace") }
        return webhook
    }
}

/// The parts of a webhook that contain secrets: its URL, and its body if that has the secret of sealed files.
struct SecretWebhookParts: Codable, Sendable {
    var url: String
    var body: String?

    init(url: String, body: String? = nil) {
        (self.url, self.body) = (url, body)
    }

    /// - Parameter text: A URL, or the JSON of both.
    init(stored text: String) throws {
        self = text.utf8.first == UInt8(ascii: "{") ? try StoredJSON.value(text, "a webhook") : Self(url: text)
    }

    func text() throws -> String { body == nil ? url : try StoredJSON.text(self) }
}

/// A notice as a row of the outbox.
struct NewWebhook: Sendable {
    private let job: JobID
    private let notice: WebhookNotice
    private let secrets: SecretStorage
    private let trace: String?

    init(_ notice: WebhookNotice, job: JobID, _ secrets: SecretStorage) throws {
        self.job = job
        self.notice = notice
        self.secrets = secrets
        trace = try notice.trace.map { try StoredJSON.text($0) }
    }

    func insert(_ transaction: StoreTransaction) {
        let now = transaction.moment.wall
        let id = WebhookID.make(at: Date(milliseconds: now))
        let shown = RedactedURL.redact(notice.url)
        let hidden = SecretWebhookParts(url: notice.url, body: notice.shownBody == nil ? nil : notice.body)
        let hasSecret = shown != notice.url || hidden.body != nil
        let secret = hasSecret ? (try? hidden.text()).flatMap { try? secrets.stored($0, for: id.text) } : nil
        transaction.later(
            """
            INSERT INTO webhook (id, job, state, host, url, secret, event, body, created_at, next_at, trace)
            VALUES ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $8, $9)
            """,
            [
                .text(id.text), .text(job.text), .text(notice.host), .text(shown), SQLValue(secret),
                .text(notice.event.rawValue), .text(notice.shownBody ?? notice.body), .integer(now), SQLValue(trace),
            ])
    }
}

/// The webhook of a job that ends by cancellation. Made before the secrets of the job are deleted, because those may
/// contain its URL.
struct CancelledNotice {
    private let webhook: NewWebhook?

    init(_ row: ClaimedRow, _ moment: StoreMoment, _ secrets: SecretStorage) {
        // An unreadable row must not prevent the job from ending.
        webhook = (try? row.claimed(secrets)).flatMap { job in
            WebhookNotice(for: job, .cancelled, at: nil, date: Date(milliseconds: moment.wall))
                .flatMap { try? NewWebhook($0, job: job.job.id, secrets) }
        }
    }

    func insert(_ transaction: StoreTransaction) { webhook?.insert(transaction) }
}

extension WebhookFilter {
    /// The filter as a condition over webhooks.
    func condition(_ dialect: SQLDialect) -> SQLCondition {
        var condition = SQLCondition("1 = 1")
        if let states { condition.add("state", among: states.map(\.rawValue), dialect) }
        if let ids { condition.add("id", among: ids.map(\.text), dialect) }
        if let job { condition.add("job = \(condition.parameter(.text(job.text)))") }
        if let search, !search.isEmpty {
            let pattern = condition.parameter(.text(JobSelection.pattern(search)))
            let parts = ["webhook.id", "webhook.job", "webhook.url", "webhook.last_error", WebhookRow.callerID].map {
                "lower(\($0)) LIKE lower(\(pattern)) ESCAPE '\\'"
            }
            condition.add("(\(parts.joined(separator: " OR ")))")
        }
        return condition
    }
}
