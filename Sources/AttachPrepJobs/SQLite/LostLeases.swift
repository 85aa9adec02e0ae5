import GRDB
import RichPush

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
        let rows = try database.rows(
            """
            UPDATE job INDEXED BY job_lease
            SET losses = losses + 1, token = NULL, worker = NULL, lease_until = NULL, cancelling = 0,
                state = CASE cancelling WHEN 1 THEN 'cancelled' ELSE 'queued' END,
                finished_at = CASE cancelling WHEN 1 THEN ?2 END,
                secret = CASE WHEN cancelling = 1 AND secret IS NOT NULL THEN '\(JobSecrets.wiped)' ELSE secret END,
                due_at = CASE losses WHEN 0 THEN min(due_at, ?2) ELSE ?2 + min(?3, ?4 << min(losses - 1, 20)) END,
                wait = CASE losses WHEN 0 THEN wait ELSE \(JobWait.backOff.rawValue) END
            WHERE state = 'running' AND lease_until <= ?1 RETURNING uuid, state
            """,
            [
                end, moment.wall, Int64(Limits.lossBackOffSecondsMax * 1000),
                Int64(Limits.lossBackOffSeconds * 1000),
            ])
        return rows.compactMap(JobFeed.Change.init)
    }
}

extension JobFeed.Change {
    /// Of `uuid, state`.
    init?(_ row: Row) {
        guard let job = JobID(row[0]), let state = JobState(rawValue: row[1]) else { return nil }
        self.init(job: job, state: state)
    }
}
