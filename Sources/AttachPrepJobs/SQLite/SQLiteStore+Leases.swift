import GRDB
public import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SQLiteStore {
    public func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStanding] {
        let until = clock.now().steady.adding(clamping: lease.milliseconds)
        return try await write { database, _ in
            var standings: [JobID: LeaseStanding] = [:]
            for lease in leases {
                let row = try database.row(
                    """
                    UPDATE job SET lease_until = ? WHERE uuid = ? AND state = 'running' AND token = ?
                    RETURNING cancelling
                    """, [until, lease.job.text, lease.token])
                standings[lease.job] = row.map { $0[0] == 1 ? .cancelled : .held } ?? .lost
            }
            return standings
        }
    }

    public func finish(_ lease: JobLease, _ ending: JobEnding, notice: WebhookNotice?) async throws -> Bool {
        let outcome = try EndedJob(ending)
        let moment = clock.now()
        let webhook = notice.map { NewWebhook($0, at: moment) }
        return try await write { database, changes in
            let row = try database.row(
                """
                UPDATE job SET state = ?3, result = ?4, error = CASE ?3 WHEN 'cancelled' THEN error ELSE ?5 END,
                    error_code = ?6, media = ?7, finished_at = ?8, token = NULL, worker = NULL, lease_until = NULL,
                    cancelling = 0,
                    secret = CASE WHEN ?3 IN ('succeeded', 'cancelled') AND secret IS NOT NULL
                        THEN '\(JobSecrets.wiped)' ELSE secret END
                WHERE uuid = ?1 AND state = 'running' AND token = ?2 RETURNING id
                """,
                [
                    lease.job.text, lease.token, outcome.state.rawValue, outcome.result, outcome.error,
                    outcome.errorCode, outcome.media?.text, moment.wall,
                ])
            guard let id: Int64 = row?[0] else { return false }
            if let media = outcome.media {
                try database.run("UPDATE result SET used_at = ? WHERE media = ?", [moment.wall, media.text])
            }
            try webhook?.insert(job: id, database)
            changes.append(JobFeed.Change(job: lease.job, state: outcome.state))
            return true
        }
    }

    public func postpone(
        _ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool
    ) async throws -> Bool {
        let moment = clock.now()
        let text = try StoredJSON.text(error)
        let attempts = isAttempt ? "" : ", \(JobReturn.withoutAttempt)"
        return try await write { database, changes in
            let change = try JobReturn.putBack(
                lease, "due_at = ?4, wait = \(JobWait.backOff.rawValue), error = ?5, error_code = ?6\(attempts)",
                database, at: moment, [date.milliseconds, text, error.code.rawValue])
            changes += change.map { [$0] } ?? []  // Bounded: lists, not numbers.
            return change != nil
        }
    }

    public func release(_ leases: [JobLease]) async throws {
        let moment = clock.now()
        try await write { database, changes in
            for lease in leases {
                let change = try JobReturn.putBack(
                    lease,
                    "due_at = min(due_at, ?3), \(JobReturn.withoutAttempt)", database, at: moment, [])
                changes += change.map { [$0] } ?? []  // Bounded: lists, not numbers.
            }
        }
    }
}

/// The way of a running job back into the queue, or to its end when it was called off meanwhile.
enum JobReturn {
    /// As if it had not been claimed.
    static let withoutAttempt = """
        attempts = attempts - 1, started_at = CASE WHEN attempts = 1 THEN NULL ELSE started_at END
        """

    /// - Parameters:
    ///   - assignments: what else changes; parameters from `?4` on.
    ///   - arguments: of those.
    /// - Returns: nil when the lease was lost.
    static func putBack(
        _ lease: JobLease, _ assignments: String, _ database: Database, at moment: StoreMoment,
        _ arguments: StatementArguments
    ) throws -> JobFeed.Change? {
        let notices = try CancelledNotices(
            "uuid = ? AND state = 'running' AND token = ? AND cancelling = 1", [lease.job.text, lease.token], database,
            at: moment)
        let row = try database.row(
            """
            UPDATE job SET \(assignments), token = NULL, worker = NULL, lease_until = NULL, cancelling = 0,
                state = CASE cancelling WHEN 1 THEN 'cancelled' ELSE 'queued' END,
                finished_at = CASE cancelling WHEN 1 THEN ?3 END,
                secret = CASE WHEN cancelling = 1 AND secret IS NOT NULL THEN '\(JobSecrets.wiped)' ELSE secret END
            WHERE uuid = ?1 AND state = 'running' AND token = ?2 RETURNING uuid, state
            """, [lease.job.text, lease.token, moment.wall] + arguments)  // Bounded: lists, not numbers.
        try notices.insert(database)
        return row.flatMap(JobFeed.Change.init)
    }
}
