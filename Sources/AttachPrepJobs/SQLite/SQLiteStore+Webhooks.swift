import GRDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    public func webhooks(
        _ filter: WebhookFilter, after cursor: WebhookID?, limit: Int
    ) async throws -> WebhookPage {
        let (selection, count) = (try WebhookSelection(filter), max(0, limit))
        let found = try await read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(WebhookRecord.columns) FROM webhook JOIN job ON job.id = webhook.job
                    WHERE \(selection.condition) AND (?1 IS NULL OR webhook.name < ?1)
                    ORDER BY webhook.name DESC LIMIT \(count + 1)
                    """, arguments: [cursor?.text] + StatementArguments(selection.arguments))
            return try rows.map(WebhookRecord.webhook)
        }
        let page = Array(found.prefix(count))
        return WebhookPage(webhooks: page, next: found.count > count ? page.last?.id : nil)
    }

    public func replayWebhooks(_ filter: WebhookFilter) async throws -> Int {
        let selection = try WebhookSelection(filter)
        let now = clock.now().wall
        return try await write { database, _ in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    UPDATE webhook SET state = 'pending', attempts = 0, next_at = ?1, ended_at = NULL,
                        lease_until = NULL
                    WHERE id IN (SELECT webhook.id FROM webhook JOIN job ON job.id = webhook.job
                        WHERE \(selection.condition)) RETURNING 1
                    """, arguments: [now] + StatementArguments(selection.arguments))
            return rows.count
        }
    }
}

/// A filter of webhooks as SQL; its parameters come after one of the caller's.
private struct WebhookSelection: Sendable {
    private(set) var condition = "1"
    private(set) var arguments: [(any DatabaseValueConvertible & Sendable)?] = []

    init(_ filter: WebhookFilter) throws {
        if let states = filter.states {
            add("webhook.state IN (SELECT value FROM json_each", try StoredJSON.text(states.map(\.rawValue)))
        }
        if let ids = filter.ids {
            add("webhook.name IN (SELECT value FROM json_each", try StoredJSON.text(ids.map(\.text)))
        }
        if let job = filter.job {
            condition += " AND job.uuid = ?\(arguments.count + 2)"
            arguments.append(job.text)
        }
    }

    private mutating func add(_ part: String, _ list: String) {
        condition += " AND \(part)(?\(arguments.count + 2)))"
        arguments.append(list)
    }
}
