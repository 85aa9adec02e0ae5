import GRDB
import RichPush

/// Gives every receiver its turn: one that is down, with thousands of webhooks, holds no more than its share.
struct WebhookClaim: Sendable {
    var count: Int
    /// On the steady clock.
    var leaseUntil: Int64
    /// Hosts that get nothing now.
    var fullHosts: Set<String>

    /// What is sent alone is sent when nothing else is in flight, and then nothing else is begun.
    func take(_ database: Database, at moment: StoreMoment, _ isolation: IsolationTurn) throws -> [Webhook] {
        let facts = try JobIsolation.facts(database, at: moment)
        let decision = IsolationDecision(
            hasAlone: facts.hasAlone, inFlight: facts.inFlight, isAloneDue: facts.isAloneDue,
            wasAlone: isolation.wasAlone)
        switch decision {
        case .wait: return []
        case .alone: return try takeAlone(database, at: moment.wall, isolation)
        case .ordinary, .ordinaryFirst:
            let taken = try take(database, at: moment.wall)
            if taken.isEmpty, decision == .ordinaryFirst {
                return try takeAlone(database, at: moment.wall, isolation)
            }
            if !taken.isEmpty { isolation.note(alone: false) }
            return taken
        }
    }

    private func takeAlone(_ database: Database, at now: Int64, _ isolation: IsolationTurn) throws -> [Webhook] {
        guard let id = try database.number(JobIsolation.nextWebhook, [now]) else { return [] }
        isolation.note(alone: true)
        return try takeOne(id, database)
    }

    func take(_ database: Database, at now: Int64) throws -> [Webhook] {
        var webhooks: [Webhook] = []
        for (host, next) in try Self.hosts(database).sorted(by: { $0.next < $1.next }) {
            guard next <= now, !fullHosts.contains(host) else { continue }
            let leased = try database.number(
                """
                SELECT count(*) FROM webhook WHERE state = 'pending' AND lease_until IS NOT NULL AND host = ?
                """, [host])
            // Bounded: counts of what is in memory.
            let share = min(count - webhooks.count, Limits.webhooksPerHostMax - Int(leased ?? 0))
            guard share > 0 else { continue }
            let ids = try database.rows(
                """
                SELECT id FROM webhook WHERE state = 'pending' AND lease_until IS NULL AND crashes = 0 AND host = ?
                    AND next_at <= ? ORDER BY next_at, id LIMIT ?
                """, [host, now, share])
            for id in ids { webhooks += try takeOne(id[0], database) }  // Bounded: lists, not numbers.
        }
        return webhooks
    }

    private func takeOne(_ id: Int64, _ database: Database) throws -> [Webhook] {
        try database.run("UPDATE webhook SET lease_until = ? WHERE id = ?", [leaseUntil, id])
        let row = try database.row(
            "SELECT \(WebhookRecord.columns) FROM webhook JOIN job ON job.id = webhook.job WHERE webhook.id = ?", [id])
        return try row.map { [try WebhookRecord.webhook($0)] } ?? []
    }

    /// Receivers that have something to get, with when the first of it is due. One seek for each.
    static func hosts(_ database: Database) throws -> [(host: String, next: Int64)] {
        let rows = try database.rows(
            """
            WITH RECURSIVE found (host) AS (
                SELECT min(host) FROM webhook WHERE state = 'pending' AND lease_until IS NULL AND crashes = 0
                UNION ALL
                SELECT (SELECT min(host) FROM webhook
                    WHERE state = 'pending' AND lease_until IS NULL AND crashes = 0 AND host > found.host)
                FROM found WHERE found.host IS NOT NULL
            )
            SELECT host, (SELECT min(next_at) FROM webhook
                WHERE state = 'pending' AND lease_until IS NULL AND crashes = 0 AND webhook.host = found.host)
            FROM found WHERE host IS NOT NULL
            """)
        return rows.map { ($0[0], $0[1]) }
    }
}
