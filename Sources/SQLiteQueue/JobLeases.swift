public import AttachPrepJobs
public import AttachPrepModel
public import FoundationEssentials
import GRDB
import RichPush
import SafeArithmetic

extension SQLiteStore {
    public func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus] {
        let until = clock.now().steady.adding(clamping: lease.milliseconds)
        return try await write { database, _ in
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
            """, [lease.job.text, lease.token, moment.wall] + arguments)  // Bounded: array concatenation.
        try notices.insert(database)
        return row.flatMap(JobFeed.Change.init)
    }
}

/// Reclaims jobs from workers that no longer exist.
enum ExpiredLeases {
    /// Reclaims jobs whose lease ends by `end`; all running jobs with `.max`, for a process that holds the folder lock.
    ///
    /// After the first loss the job is due at once (earlier of its due time and now, because the clock may have been
    /// set back). From the second loss on, when the job itself may be the cause, its delay doubles each time. A
    /// cancelled job ends.
    static func reclaim(
        _ database: Database, until end: Int64, at moment: StoreMoment
    ) throws -> [JobFeed.Change] {
        let notices = try CancelledNotices(
            "state = 'running' AND lease_until <= ? AND cancelling = 1", [end], index: "INDEXED BY job_lease", database,
            at: moment)
        let rows = try database.rows(
            """
            UPDATE job INDEXED BY job_lease
            SET losses = losses + 1, \(requeue),
                parked = CASE WHEN losses + 1 >= ?5 THEN \(JobIsolation.mark) ELSE parked END,
                due_at = CASE losses WHEN 0 THEN min(due_at, ?2)
                    ELSE ?2 + min(?3, ?4 << max(0, min(losses - 1, 20))) END,
                wait = CASE losses WHEN 0 THEN wait ELSE \(JobWait.backOff.rawValue) END
            WHERE state = 'running' AND lease_until <= ?1 RETURNING uuid, state
            """,
            [
                // Bounded: a product of limits and settings.
                end, moment.wall, Int64(Limits.lossBackOffSecondsMax * 1000),
                // Bounded: a product of limits and settings.
                Int64(Limits.lossBackOffSeconds * 1000), CrashPolicy.lossesAloneMin,
            ])
        try notices.insert(database)
        return rows.compactMap(JobFeed.Change.init)
    }

    /// Reclaims all jobs that a process had when it crashed: each runs alone next, with a delay that grows with each
    /// crash.
    static func reclaimCrashed(_ database: Database, at moment: StoreMoment) throws -> [CrashedJob] {
        let notices = try CancelledNotices(
            "state = 'running' AND cancelling = 1", [], index: "INDEXED BY job_lease", database, at: moment)
        let held = try database.rows("SELECT id, crashes FROM job INDEXED BY job_lease WHERE state = 'running'")
        let jobs: [CrashedJob] = try held.compactMap { row in
            let (id, earlier): (Int64, Int) = (row[0], row[1])
            let crashes = min(max(earlier, 0), CrashPolicy.crashesMax - 1) + 1  // Bounded: constants.
            let due = moment.wall.adding(clamping: CrashPolicy.backOffMilliseconds(crashes: crashes))
            return try database.row(
                """
                UPDATE job SET crashes = ?3, \(requeue), parked = \(JobIsolation.mark), due_at = ?4,
                    wait = \(JobWait.backOff.rawValue)
                WHERE id = ?1 RETURNING uuid
                """, [id, moment.wall, crashes, due]
            ).flatMap { JobID($0[0]) }.map { CrashedJob(id: $0, crashes: crashes) }
        }
        try notices.insert(database)
        return jobs
    }

    /// Reclaims webhooks that were being sent during a crash: they are sent alone next, and given up after `crashesMax`
    /// crashes.
    static func reclaimCrashedWebhooks(_ database: Database, at moment: StoreMoment) throws -> Int {
        try database.run(
            """
            UPDATE webhook SET lease_until = NULL, crashes = min(max(crashes, 0), ?2) + 1
            WHERE state = 'pending' AND lease_until IS NOT NULL
            """, [moment.wall, CrashPolicy.crashesMax - 1])  // Bounded: constants.
        let count = database.changesCount
        try database.run(
            """
            UPDATE webhook SET state = 'givenUp', next_at = NULL, ended_at = ?1, last_error = ?3
            WHERE state = 'pending' AND crashes >= ?2
            """,
            [
                moment.wall, CrashPolicy.crashesMax,
                "The process crashed \(CrashPolicy.crashesMax) times while this webhook was being sent.",
            ])
        return count
    }

    /// The assignments for any reclaimed job; `?2` is the time.
    private static let requeue = """
        token = NULL, lease_until = NULL, cancelling = 0,
        state = CASE cancelling WHEN 1 THEN 'cancelled' ELSE 'queued' END,
        finished_at = CASE cancelling WHEN 1 THEN ?2 END,
        secret = CASE WHEN cancelling = 1 AND secret IS NOT NULL THEN '\(JobSecrets.wiped)' ELSE secret END
        """
}

extension JobFeed.Change {
    /// From a row `uuid, state`.
    init?(_ row: StoredRow) {
        guard let job = JobID(row[0]), let state = JobState(rawValue: row[1]) else { return nil }
        self.init(job: job, state: state)
    }
}
