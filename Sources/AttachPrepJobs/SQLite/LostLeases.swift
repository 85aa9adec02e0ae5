import GRDB
import RichPush
import SafeArithmetic

/// Takes jobs back from workers that are gone.
enum LostLeases {
    /// Those whose lease has run out.
    static func takeBack(_ database: Database, at moment: StoreMoment) throws -> [JobFeed.Change] {
        try takeBack(database, until: moment.steady, at: moment)
    }

    /// All of them: for a process that knows that no other one works.
    static func takeBackAll(_ database: Database, at moment: StoreMoment) throws -> [JobFeed.Change] {
        try takeBack(database, until: .max, at: moment)
    }

    /// A first loss costs no time: the job is due since it was, by a clock that may have been set back. From the second
    /// on the job may be what ends its workers, and waits longer each time. One that was called off has ended.
    private static func takeBack(
        _ database: Database, until end: Int64, at moment: StoreMoment
    ) throws -> [JobFeed.Change] {
        let notices = try CancelledNotices(
            "state = 'running' AND lease_until <= ? AND cancelling = 1", [end], index: "INDEXED BY job_lease", database,
            at: moment)
        let rows = try database.rows(
            """
            UPDATE job INDEXED BY job_lease
            SET losses = losses + 1, \(putBack),
                parked = CASE WHEN losses + 1 >= ?5 THEN \(JobIsolation.mark) ELSE parked END,
                due_at = CASE losses WHEN 0 THEN min(due_at, ?2)
                    ELSE ?2 + min(?3, ?4 << max(0, min(losses - 1, 20))) END,
                wait = CASE losses WHEN 0 THEN wait ELSE \(JobWait.backOff.rawValue) END
            WHERE state = 'running' AND lease_until <= ?1 RETURNING uuid, state
            """,
            [
                // Bounded: a product of our own limits and settings.
                end, moment.wall, Int64(Limits.lossBackOffSecondsMax * 1000),
                // Bounded: a product of our own limits and settings.
                Int64(Limits.lossBackOffSeconds * 1000), CrashPolicy.lossesAloneMin,
            ])
        try notices.insert(database)
        return rows.compactMap(JobFeed.Change.init)
    }

    /// All jobs that a process had when it crashed, which is proven: each comes back alone, later than the last time.
    static func takeBackCrashed(_ database: Database, at moment: StoreMoment) throws -> [CrashedJob] {
        let notices = try CancelledNotices(
            "state = 'running' AND cancelling = 1", [], index: "INDEXED BY job_lease", database, at: moment)
        let held = try database.rows("SELECT id, crashes FROM job INDEXED BY job_lease WHERE state = 'running'")
        let jobs: [CrashedJob] = try held.compactMap { row in
            let (id, former): (Int64, Int) = (row[0], row[1])
            let crashes = min(max(former, 0), CrashPolicy.crashesMax - 1) + 1  // Bounded: constants of ours.
            let due = moment.wall.adding(clamping: CrashPolicy.backOffMilliseconds(crashes: crashes))
            return try database.row(
                """
                UPDATE job SET crashes = ?3, \(putBack), parked = \(JobIsolation.mark), due_at = ?4,
                    wait = \(JobWait.backOff.rawValue)
                WHERE id = ?1 RETURNING uuid
                """, [id, moment.wall, crashes, due]
            ).flatMap { JobID($0[0]) }.map { CrashedJob(id: $0, crashes: crashes) }
        }
        try notices.insert(database)
        return jobs
    }

    /// Webhooks that were being sent when the process crashed are sent alone, and given up after too many crashes.
    static func takeBackCrashedWebhooks(_ database: Database, at moment: StoreMoment) throws -> Int {
        try database.run(
            """
            UPDATE webhook SET lease_until = NULL, crashes = min(max(crashes, 0), ?2) + 1
            WHERE state = 'pending' AND lease_until IS NOT NULL
            """, [moment.wall, CrashPolicy.crashesMax - 1])  // Bounded: constants of ours.
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

    /// What becomes of any job that is taken back; `?2` is the time.
    private static let putBack = """
        token = NULL, worker = NULL, lease_until = NULL, cancelling = 0,
        state = CASE cancelling WHEN 1 THEN 'cancelled' ELSE 'queued' END,
        finished_at = CASE cancelling WHEN 1 THEN ?2 END,
        secret = CASE WHEN cancelling = 1 AND secret IS NOT NULL THEN '\(JobSecrets.wiped)' ELSE secret END
        """
}

/// A job that a process had when it crashed.
struct CrashedJob: Sendable, Hashable {
    var id: JobID
    /// With this one.
    var crashes: Int
}

extension JobFeed.Change {
    /// Of `uuid, state`.
    init?(_ row: StoredRow) {
        guard let job = JobID(row[0]), let state = JobState(rawValue: row[1]) else { return nil }
        self.init(job: job, state: state)
    }
}
