import GRDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What both drivers ask the table of webhooks.
enum WebhookQuery {
    /// What a try never came back from is free again.
    static func takeBackLost(_ database: Database, at steady: Int64) throws {
        try database.run(
            """
            UPDATE webhook SET lease_until = NULL
            WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= ?
            """, [steady])
    }

    static func nextDue(_ database: Database, at steady: Int64) throws -> Date? {
        let free = try WebhookClaim.hosts(database).map(\.next).min()
        let alone = try database.number(
            """
            SELECT min(next_at) FROM webhook INDEXED BY webhook_alone
            WHERE state = 'pending' AND lease_until IS NULL AND crashes > 0
            """)
        let lost = try database.number(
            """
            SELECT min(next_at) FROM webhook
            WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= ?
            """, [steady])
        return [free, alone, lost].compactMap(\.self).min().map { Date(milliseconds: $0) }
    }

    static func counts(_ database: Database) throws -> [WebhookState: Int] {
        var counts = Dictionary(uniqueKeysWithValues: WebhookState.allCases.map { ($0, 0) })
        for row in try database.rows("SELECT state, count(*) FROM webhook GROUP BY state") {
            if let state = WebhookState(rawValue: row[0]) { counts[state] = row[1] }
        }
        return counts
    }

    static func page(
        _ selection: WebhookSelection, after cursor: WebhookID?, limit: Int, _ database: Database
    ) throws -> WebhookPage {
        let count = max(0, limit)
        let found = try StoredRow.fetchAll(
            database,
            sql: """
                SELECT \(WebhookRecord.columns) FROM webhook JOIN job ON job.id = webhook.job
                WHERE \(selection.condition) AND (?1 IS NULL OR webhook.name < ?1)
                ORDER BY webhook.name DESC LIMIT \(count + 1)
                """, arguments: [cursor?.text] + StatementArguments(selection.arguments)
        ).map(WebhookRecord.webhook)
        let page = Array(found.prefix(count))
        return WebhookPage(webhooks: page, next: found.count > count ? page.last?.id : nil)
    }
}

/// A filter of webhooks as SQL; its parameters come after one of the caller's.
struct WebhookSelection: Sendable {
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
