import GRDB
import RichPush
import SafeArithmetic

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
        try await jumps.follow(moment, in: commits)
        let isolation = isolation
        return try await write { database, _ in
            try WebhookQuery.takeBackLost(database, at: moment.steady)
            let claim = WebhookClaim(
                count: count, leaseUntil: moment.steady.adding(clamping: lease.milliseconds), fullHosts: hosts)
            return try claim.take(database, at: moment, isolation)
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
            if state == .delivered { try WebhookWiping.wipeDelivered(database) }
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
        // Who waits for the date that this gives does not claim before it: a step of the clock is seen here or never.
        try await jumps.follow(moment, in: commits)
        return try await read { try WebhookQuery.nextDue($0, at: moment.steady) }
    }

    public func webhookCounts() async throws -> [WebhookState: Int] { try await read(WebhookQuery.counts) }
}
