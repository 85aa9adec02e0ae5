import GRDB
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SQLiteStore: WebhookOutbox {
    public func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        let moment = clock.now()
        let jumps = jumps
        return try await write { database, _ in
            try jumps.heal(database, at: moment)
            try database.run(
                """
                UPDATE webhook SET lease_until = NULL
                WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= ?
                """, [moment.steady])
            return try WebhookClaim.take(count, until: moment.steady + lease.milliseconds, database, at: moment.wall)
        }
    }

    public func record(_ id: WebhookID, _ outcome: WebhookOutcome) async throws {
        let now = clock.now().wall
        let (state, next, ended, status, error): (WebhookState, Int64?, Int64?, Int?, String?) =
            switch outcome {
            case .delivered(let status): (.delivered, nil, now, status, nil)
            case .retry(let date, let status, let error): (.pending, date.milliseconds, nil, status, error)
            case .givenUp(let status, let error): (.givenUp, nil, now, status, error)
            }
        try await write { database, _ in
            // One that ended meanwhile stays as it is: its receiver does not want it, or has it.
            try database.run(
                """
                UPDATE webhook SET state = ?, next_at = ?, ended_at = ?, last_status = ?, last_error = ?,
                    attempts = attempts + 1, lease_until = NULL
                WHERE name = ? AND state = 'pending'
                """, [state.rawValue, next, ended, status, error, id.text])
        }
    }

    public func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        let now = clock.now().wall
        let host = NewWebhook.host(of: url)
        return try await write { database, _ in
            let rows = try database.rows(
                """
                UPDATE webhook SET state = 'givenUp', next_at = NULL, ended_at = ?1, last_error = ?2,
                    lease_until = NULL
                WHERE state = 'pending' AND host = ?3 AND url = ?4 RETURNING 1
                """, [now, error, host, url])
            return rows.count
        }
    }

    public func nextWebhookDue() async throws -> Date? {
        try await read { database in
            try WebhookClaim.hosts(database).map(\.next).min().map { Date(milliseconds: $0) }
        }
    }

    public func webhookCounts() async throws -> [WebhookState: Int] {
        try await read { database in
            var counts = Dictionary(uniqueKeysWithValues: WebhookState.allCases.map { ($0, 0) })
            for row in try database.rows("SELECT state, count(*) FROM webhook GROUP BY state") {
                if let state = WebhookState(rawValue: row[0]) { counts[state] = row[1] }
            }
            return counts
        }
    }
}

/// Gives every receiver its turn: one that is down, with thousands of webhooks, holds no more than its share.
enum WebhookClaim {
    static func take(_ count: Int, until lease: Int64, _ database: Database, at now: Int64) throws -> [Webhook] {
        var webhooks: [Webhook] = []
        for (host, next) in try hosts(database).sorted(by: { $0.next < $1.next }) where next <= now {
            let leased = try database.number(
                """
                SELECT count(*) FROM webhook WHERE state = 'pending' AND lease_until IS NOT NULL AND host = ?
                """, [host])
            let share = min(count - webhooks.count, Limits.webhooksPerHostMax - Int(leased ?? 0))
            guard share > 0 else { continue }
            let ids = try database.rows(
                """
                SELECT id FROM webhook WHERE state = 'pending' AND lease_until IS NULL AND host = ? AND next_at <= ?
                ORDER BY next_at, id LIMIT ?
                """, [host, now, share])
            for id in ids { webhooks += try takeOne(id[0], until: lease, database) }
        }
        return webhooks
    }

    private static func takeOne(_ id: Int64, until lease: Int64, _ database: Database) throws -> [Webhook] {
        try database.run("UPDATE webhook SET lease_until = ? WHERE id = ?", [lease, id])
        let row = try database.row(
            "SELECT \(WebhookRecord.columns) FROM webhook JOIN job ON job.id = webhook.job WHERE webhook.id = ?", [id])
        return try row.map { [try WebhookRecord.webhook($0)] } ?? []
    }

    /// Receivers that have something to get, with when the first of it is due. One seek for each.
    static func hosts(_ database: Database) throws -> [(host: String, next: Int64)] {
        let rows = try database.rows(
            """
            WITH RECURSIVE found (host) AS (
                SELECT min(host) FROM webhook WHERE state = 'pending' AND lease_until IS NULL
                UNION ALL
                SELECT (SELECT min(host) FROM webhook
                    WHERE state = 'pending' AND lease_until IS NULL AND host > found.host)
                FROM found WHERE found.host IS NOT NULL
            )
            SELECT host, (SELECT min(next_at) FROM webhook
                WHERE state = 'pending' AND lease_until IS NULL AND webhook.host = found.host)
            FROM found WHERE host IS NOT NULL
            """)
        return rows.map { ($0[0], $0[1]) }
    }
}
