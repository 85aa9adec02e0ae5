public import AttachPrepJobs
public import AttachPrepModel
public import FoundationEssentials
import GRDB
import RichPush
import SafeArithmetic

extension SQLiteStore {
    public func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus] {
        let now = clock.now().steady
        do {
            return try await renew(leases, until: now.adding(clamping: lease.milliseconds))
        } catch {
            failedRenewals.record(at: now, lease: lease.milliseconds)
            throw error
        }
    }

    private func renew(_ leases: [JobLease], until: Int64) async throws -> [JobID: LeaseStatus] {
        try await write { database, _ in
            var statuses: [JobID: LeaseStatus] = [:]
            for lease in leases {
                let row = try database.row(
                    """
                    UPDATE job SET lease_until = ? WHERE uuid = ? AND state = 'running' AND token = ?
                    RETURNING cancelling
                    """, [until, lease.job.text, lease.token])
                statuses[lease.job] = row.map { $0[0] == 1 ? .cancelled : .held } ?? .lost
            }
            return statuses
        }
    }

    public func finish(_ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?) async throws -> Bool {
        let outcome = try EncodedCompletion(ending)
        let moment = clock.now()
        let webhook = notice.map { NewWebhook($0, at: moment) }
        return try await write { database, changes in
            let row = try database.row(
                """
                UPDATE job SET state = ?3, result = ?4, error = CASE ?3 WHEN 'cancelled' THEN error ELSE ?5 END,
                    error_code = ?6, media = ?7, finished_at = ?8, token = NULL, lease_until = NULL,
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
        let attempts = isAttempt ? "" : ", \(JobRequeue.withoutAttempt)"
        return try await write { database, changes in
            let change = try JobRequeue.requeue(
                lease, "due_at = ?4, wait = \(JobWait.backOff.rawValue), error = ?5, error_code = ?6\(attempts)",
                database, at: moment, [date.milliseconds, text, error.code.rawValue])
            changes += change.map { [$0] } ?? []
            return change != nil
        }
    }

    public func release(_ leases: [JobLease]) async throws {
        let moment = clock.now()
        try await write { database, changes in
            for lease in leases {
                let change = try JobRequeue.requeue(
                    lease,
                    "due_at = min(due_at, ?3), \(JobRequeue.withoutAttempt)", database, at: moment, [])
                changes += change.map { [$0] } ?? []
            }
        }
    }
}

/// Returns a running job to the queue, or ends it when it was cancelled meanwhile.
enum JobRequeue {
    /// Undoes the attempt that the claim counted.
    static let withoutAttempt = """
        attempts = attempts - 1, started_at = CASE WHEN attempts = 1 THEN NULL ELSE started_at END,
        worker = CASE WHEN attempts = 1 THEN NULL ELSE worker END
        """

    /// - Parameters:
    ///   - assignments: further SQL assignments, with parameters from `?4` on.
    ///   - arguments: the arguments of `assignments`.
    /// - Returns: Nil when the lease was lost.
    static func requeue(
        _ lease: JobLease, _ assignments: String, _ database: Database, at moment: StoreMoment,
        _ arguments: StatementArguments
    ) throws -> JobFeed.Change? {
        let notices = try CancelledNotices(
            "uuid = ? AND state = 'running' AND token = ? AND cancelling = 1", [lease.job.text, lease.token], database,
            at: moment)
        let row = try database.row(
            """
            UPDATE job SET \(assignments), token = NULL, lease_until = NULL, cancelling = 0,
                state = CASE cancelling WHEN 1 THEN 'cancelled' ELSE 'queued' END,
                finished_at = CASE cancelling WHEN 1 THEN ?3 END,
                secret = CASE WHEN cancelling = 1 AND secret IS NOT NULL THEN '\(JobSecrets.wiped)' ELSE secret END
            WHERE uuid = ?1 AND state = 'running' AND token = ?2 RETURNING uuid, state
            """, [lease.job.text, lease.token, moment.wall] + arguments)
        try notices.insert(database)
        return row.flatMap(JobFeed.Change.init)
    }
}

/// Reclaims jobs from workers that no longer exist.
enum ExpiredLeases {
    /// Reclaims jobs whose lease ends by `end`; all running jobs with `.max`, for a process that holds the folder lock.
    ///
    /// Each job waits as `LossPolicy` says. A cancelled job ends.
    ///
    /// - Parameter excusedUntil: a lease that ended by this time is not a loss, because the store was unreachable
    ///   (`FailedRenewals`): its job is due as before, and its attempt does not count.
    static func reclaim(
        _ database: Database, until end: Int64, excusedUntil: Int64 = .min, at moment: StoreMoment
    ) throws -> [JobFeed.Change] {
        let notices = try CancelledNotices(
            "state = 'running' AND lease_until <= ? AND cancelling = 1", [end], index: "INDEXED BY job_lease", database,
            at: moment)
        let expired = try database.rows(
            "SELECT id, losses, lease_until FROM job INDEXED BY job_lease WHERE state = 'running' AND lease_until <= ?",
            [end])
        let changes = try expired.compactMap { row -> JobFeed.Change? in
            let (id, losses, until): (Int64, Int, Int64) = (row[0], row[1], row[2])
            if until <= excusedUntil {
                return try requeue(id, "due_at = min(due_at, ?2), \(JobRequeue.withoutAttempt)", [], database, moment)
            }
            let count = losses.adding(clamping: 1)
            let due = moment.wall.adding(clamping: LossPolicy.delayMilliseconds(losses: count))
            return try requeue(
                id, "losses = ?3, due_at = ?4, wait = \(JobWait.backOff.rawValue)", [count, due], database, moment)
        }
        try notices.insert(database)
        return changes
    }

    /// - Parameters:
    ///   - assignments: further SQL assignments, with parameters from `?3` on.
    ///   - arguments: the arguments of `assignments`.
    private static func requeue(
        _ id: Int64, _ assignments: String, _ arguments: StatementArguments, _ database: Database, _ moment: StoreMoment
    ) throws -> JobFeed.Change? {
        try database.row(
            """
            UPDATE job SET \(assignments), token = NULL, lease_until = NULL, cancelling = 0,
                state = CASE cancelling WHEN 1 THEN 'cancelled' ELSE 'queued' END,
                finished_at = CASE cancelling WHEN 1 THEN ?2 END,
                secret = CASE WHEN cancelling = 1 AND secret IS NOT NULL THEN '\(JobSecrets.wiped)' ELSE secret END
            WHERE id = ?1 RETURNING uuid, state
            """, [id, moment.wall] + arguments
        ).flatMap(JobFeed.Change.init)
    }
}

extension JobFeed.Change {
    /// From a row `uuid, state`.
    init?(_ row: StoredRow) {
        guard let job = JobID(row[0]), let state = JobState(rawValue: row[1]) else { return nil }
        self.init(job: job, state: state)
    }
}
