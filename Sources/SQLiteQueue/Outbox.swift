public import AttachPrepJobs
public import FoundationEssentials
package import GRDB
import RichPush
import SafeArithmetic

extension SQLiteStore: WebhookOutbox {
    public func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        let moment = clock.now()
        try await jumps.adjust(moment, in: commits)
        return try await write { database, _ in
            try WebhookQuery.reclaimExpired(database, at: moment.steady)
            let claim = WebhookClaim(
                count: count, leaseUntil: moment.steady.adding(clamping: lease.milliseconds))
            return try claim.apply(database, at: moment.wall)
        }
    }

    public func record(_ id: WebhookID, _ result: WebhookDeliveryResult) async throws {
        let now = clock.now().wall
        let (state, next, ended, status, error): (WebhookState, Int64?, Int64?, Int?, String?) =
            switch result {
            case .delivered(let status): (.delivered, nil, now, status, nil)
            case .retry(let date, let status, let error): (.pending, date.milliseconds, nil, status, error)
            case .givenUp(let status, let error): (.givenUp, nil, now, status, error)
            }
        try await write { database, _ in
            // A webhook that ended meanwhile is not changed.
            try database.run(
                """
                UPDATE webhook SET state = ?, next_at = ?, ended_at = ?, last_status = ?, last_error = ?,
                    attempts = attempts + 1, lease_until = NULL
                WHERE name = ? AND state = 'pending'
                """, [state.rawValue, next, ended, status, error, id.text])
            if state == .delivered { try WebhookRedaction.redactDelivered(database) }
        }
    }

    public func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        let now = clock.now().wall
        let host = WebhookNotice(url: url, event: .attachmentPrepared, body: "").host
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
        let moment = clock.now()
        // Callers wait until the returned date before they claim, so a clock step has to be handled here.
        try await jumps.adjust(moment, in: commits)
        return try await read { try WebhookQuery.nextDue($0, at: moment.steady) }
    }

    public func webhookCounts() async throws -> [WebhookState: Int] { try await read(WebhookQuery.counts) }
}

/// Claims webhooks with a limit per host, so that an unreachable receiver with thousands of webhooks does not block
/// others.
package struct WebhookClaim: Sendable {
    package var count: Int
    /// End of the lease on the boot clock, in milliseconds.
    package var leaseUntil: Int64

    package init(count: Int, leaseUntil: Int64) {
        self.count = count
        self.leaseUntil = leaseUntil
    }

    package func apply(_ database: Database, at now: Int64) throws -> [Webhook] {
        var webhooks: [Webhook] = []
        for (host, next) in try Self.hosts(database).sorted(by: { $0.next < $1.next }) {
            guard next <= now else { break }
            let leased = try database.number(
                """
                SELECT count(*) FROM webhook WHERE state = 'pending' AND lease_until IS NOT NULL AND host = ?
                """, [host])
            let share = min(count - webhooks.count, Limits.webhooksPerHostMax - Int(leased ?? 0))
            guard share > 0 else { continue }
            let ids = try database.rows(
                """
                SELECT id FROM webhook WHERE state = 'pending' AND lease_until IS NULL AND host = ?
                    AND next_at <= ? ORDER BY next_at, id LIMIT ?
                """, [host, now, share])
            for id in ids { webhooks += try claimOne(id[0], database) }
        }
        return webhooks
    }

    private func claimOne(_ id: Int64, _ database: Database) throws -> [Webhook] {
        try database.run("UPDATE webhook SET lease_until = ? WHERE id = ?", [leaseUntil, id])
        let row = try database.row(
            "SELECT \(WebhookRecord.columns) FROM webhook JOIN job ON job.id = webhook.job WHERE webhook.id = ?", [id])
        return try row.map { [try WebhookRecord.webhook($0)] } ?? []
    }

    /// Returns the hosts with pending webhooks and the due time of the first one; one index seek each.
    package static func hosts(_ database: Database) throws -> [(host: String, next: Int64)] {
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
            try WebhookRedaction.restore(selection, database)
            let rows = try StoredRow.fetchAll(
                database,
                sql: """
                    UPDATE webhook SET state = 'pending', attempts = 0, next_at = ?1, ended_at = NULL,
                        lease_until = NULL
                    WHERE id IN (SELECT webhook.id FROM webhook JOIN job ON job.id = webhook.job
                        WHERE webhook.url_wiped <> \(WebhookRedaction.Mark.wiped.rawValue)
                            AND \(selection.condition)) RETURNING 1
                    """, arguments: [now] + StatementArguments(selection.arguments))
            return rows.count
        }
    }
}
