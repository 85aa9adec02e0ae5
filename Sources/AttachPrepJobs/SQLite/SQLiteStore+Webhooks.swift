import GRDB

extension SQLiteStore {
    public func webhooks(
        _ filter: WebhookFilter, after cursor: WebhookID?, limit: Int
    ) async throws -> WebhookPage {
        let selection = try WebhookSelection(filter)
        return try await read { try WebhookQuery.page(selection, after: cursor, limit: limit, $0) }
    }

    public func replayWebhooks(_ filter: WebhookFilter) async throws -> Int {
        let selection = try WebhookSelection(filter)
        let now = clock.now().wall
        return try await write { database, _ in
            try WebhookWiping.restore(selection, database)
            let rows = try StoredRow.fetchAll(
                database,
                sql: """
                    UPDATE webhook SET state = 'pending', attempts = 0, crashes = 0, next_at = ?1, ended_at = NULL,
                        lease_until = NULL
                    WHERE id IN (SELECT webhook.id FROM webhook JOIN job ON job.id = webhook.job
                        WHERE webhook.url_wiped <> \(WebhookWiping.Mark.wiped.rawValue)
                            AND \(selection.condition)) RETURNING 1
                    """, arguments: [now] + StatementArguments(selection.arguments))
            return rows.count
        }
    }
}
