import GRDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A row of webhooks, with its job's name.
enum WebhookRecord {
    static let columns = """
        webhook.name, job.uuid, webhook.url, webhook.event, webhook.body, webhook.state, webhook.attempts,
        webhook.created_at, webhook.next_at, webhook.ended_at, webhook.last_status, webhook.last_error
        """

    static func webhook(_ row: StoredRow) throws -> Webhook {
        guard let id = WebhookID(row[0]), let job = JobID(row[1]), let event = WebhookNotice.Event(rawValue: row[3]),
            let state = WebhookState(rawValue: row[5])
        else { throw StoreFault.unreadable("a webhook") }
        var webhook = Webhook(
            id: id, job: job, notice: WebhookNotice(url: row[2], event: event, body: row[4]), state: state,
            attempts: row[6], createdAt: Date(milliseconds: row[7]))
        webhook.nextAt = (row[8] as Int64?).map { Date(milliseconds: $0) }
        webhook.endedAt = (row[9] as Int64?).map { Date(milliseconds: $0) }
        webhook.lastStatus = row[10]
        webhook.lastError = row[11]
        return webhook
    }
}
