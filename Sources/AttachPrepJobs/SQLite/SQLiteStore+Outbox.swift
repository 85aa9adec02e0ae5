import GRDB
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SQLiteStore: WebhookOutbox {
    public func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        try await claimWebhooks(count, lease: lease, notTo: [])
    }

    public func claimWebhooks(_ count: Int, lease: Duration, notTo hosts: Set<String>) async throws -> [Webhook] {
        let moment = clock.now()
        let hasJumped = jumps.isBehind(moment)
        let webhooks = try await write { database, _ in
            if hasJumped { try ClockJumps.cut(database, at: moment) }
            try database.run(
                """
                UPDATE webhook SET lease_until = NULL
                WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= ?
                """, [moment.steady])
            let claim = WebhookClaim(count: count, leaseUntil: moment.steady + lease.milliseconds, fullHosts: hosts)
            return try claim.take(database, at: moment.wall)
        }
        jumps.note(moment)
        return webhooks
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
        let steady = clock.now().steady
        return try await read { database in
            let free = try WebhookClaim.hosts(database).map(\.next).min()
            // What a try never came back from is due again.
            let lost = try database.number(
                """
                SELECT min(next_at) FROM webhook
                WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= ?
                """, [steady])
            return [free, lost].compactMap(\.self).min().map { Date(milliseconds: $0) }
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
