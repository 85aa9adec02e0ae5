import GRDB
import RichPush

/// A webhook that may be sent by us, and how its job was when that was looked up.
struct WebhookOffer: Sendable {
    var webhook: Webhook
    var job: KnownJob
    /// Whose try of it never came back; nil for nobody's.
    var formerSender: Int64?
}

/// What the outbox asks.
extension JobMirror {
    /// Webhooks that are due and that nobody sends; not given again until that time on the steady clock.
    func offerWebhooks(_ claim: WebhookClaim, at moment: StoreMoment) async throws -> [WebhookOffer] {
        let found = try await write { database, _ -> [(Webhook, KnownJob)] in
            try WebhookQuery.takeBackLost(database, at: moment.steady)
            return try claim.take(database, at: moment.wall).compactMap { webhook in
                let job = try KnownJob.all("FROM job WHERE uuid = ?", [webhook.job.text], database).first
                return job.map { (webhook, $0) }
            }
        }
        return found.compactMap { webhook, job in
            let notice = job.value.notices?.first { $0.id == webhook.id.text }
            return notice.map { WebhookOffer(webhook: webhook, job: job, formerSender: $0.sender) }
        }
    }

    /// They may be given again.
    func letGo(_ webhooks: [WebhookID]) async throws {
        let names = try StoredJSON.text(webhooks.map(\.text))
        try await write { database, _ in
            try database.run(
                "UPDATE webhook SET lease_until = NULL WHERE name IN (SELECT value FROM json_each(?))", [names])
        }
    }

    /// The job that a webhook is of; nil for one that is gone.
    func job(of webhook: WebhookID) async throws -> String? {
        try await read { database in
            try database.row(
                "SELECT job.uuid FROM webhook JOIN job ON job.id = webhook.job WHERE webhook.name = ?", [webhook.text]
            ).map { $0[0] }
        }
    }

    /// The jobs of those that still have to go to an address.
    func jobs(telling url: String) async throws -> [String] {
        let host = WebhookNotice(url: url, event: .attachmentPrepared, body: "").host
        return try await read { database in
            try database.rows(
                """
                SELECT DISTINCT job.uuid FROM webhook JOIN job ON job.id = webhook.job
                WHERE webhook.state = 'pending' AND webhook.host = ? AND webhook.url = ?
                """, [host, url]
            ).map { $0[0] }
        }
    }

    /// Webhooks that a filter chooses, by their jobs.
    func webhooks(_ filter: WebhookFilter) async throws -> [String: Set<String>] {
        let selection = try WebhookSelection(filter)
        let rows = try await read { database in
            try StoredRow.fetchAll(
                database,
                sql: """
                    SELECT job.uuid, webhook.name FROM webhook JOIN job ON job.id = webhook.job
                    WHERE ?1 IS NULL AND \(selection.condition)
                    """, arguments: [nil] + StatementArguments(selection.arguments)
            ).map { ($0[0] as String, $0[1] as String) }
        }
        return Dictionary(rows.map { ($0, [$1]) }) { $0.union($1) }
    }
}
