import AttachPrep
import GRDB
import SafeArithmetic

/// Sets jobs aside that cannot run for now, so that claims need not look at them one by one.
///
/// A claim looks at the first jobs of its lane. When all of those belong to hosts that are busy, or want what is being
/// worked on already, they are parked; when their host or key is free again, as many come back as can run. So a
/// backlog of a hundred thousand jobs for one slow host costs each of them one parking, and others nothing.
enum JobParking {
    /// How many jobs of a lane a claim looks at.
    static let windowCount = 64
    /// How many such looks a step takes: parking so many takes some twenty milliseconds, for which others wait.
    static let windowsMax = 32

    /// Whether the job `candidate` can run: its host, of which `?2` may run, has room, and nobody works on its key.
    static let canRun = """
        NOT EXISTS (SELECT 1 FROM job AS other INDEXED BY job_alive_key
            WHERE other.state IN ('queued', 'running') AND other.state = 'running' AND other.key = candidate.key)
        AND (candidate.host IS NULL OR ?2 >
            (SELECT count(*) FROM job AS other INDEXED BY job_running_host
                WHERE other.state = 'running' AND other.host = candidate.host))
        """

    /// The first jobs of lane `?1` that are due at `?3`.
    static let window = """
        SELECT id, host, key FROM job INDEXED BY job_queued
        WHERE state = 'queued' AND parked = 0 AND lane = ?1 AND due_at <= ?3 ORDER BY due_at, id LIMIT \(windowCount)
        """

    /// Parks the jobs of a window that cannot run.
    ///
    /// - Returns: whether another look may find more: false when the window was not full.
    static func park(_ database: Database, lane: JobPriority, hostLimit: Int, at moment: StoreMoment) throws -> Bool {
        try database.run(
            """
            UPDATE job SET parked = CASE WHEN EXISTS (SELECT 1 FROM job AS other INDEXED BY job_alive_key
                WHERE other.state IN ('queued', 'running') AND other.state = 'running' AND other.key = job.key)
                THEN 2 ELSE 1 END
            WHERE id IN (SELECT id FROM (\(window)) AS candidate WHERE NOT (\(canRun)))
            """, [lane.lane, hostLimit, moment.wall])
        return database.changesCount >= windowCount
    }

    /// Brings back what can run again.
    static func admit(_ database: Database, hostLimit: Int) throws {
        for (host, running) in try parked("host", mark: 1, database) where running < hostLimit {
            try admit(database, "host", host, mark: 1, count: hostLimit.subtracting(clamping: running))
        }
        for (key, running) in try parked("key", mark: 2, database) where running == 0 {
            try admit(database, "key", key, mark: 2, count: 1)
        }
    }

    /// The hosts or keys that have parked jobs, with how many of theirs are running. One seek for each of them.
    private static func parked(
        _ column: String, mark: Int, _ database: Database
    ) throws -> [(name: String, running: Int)] {
        let alive = column == "key" ? "AND other.state IN ('queued', 'running')" : ""
        let rows = try database.rows(
            """
            WITH RECURSIVE found (name) AS (
                SELECT min(\(column)) FROM job INDEXED BY job_\(column)_parked
                WHERE state = 'queued' AND parked = \(mark)
                UNION ALL
                SELECT (SELECT min(\(column)) FROM job INDEXED BY job_\(column)_parked
                    WHERE state = 'queued' AND parked = \(mark) AND \(column) > found.name)
                FROM found WHERE found.name IS NOT NULL
            )
            SELECT name, (SELECT count(*) FROM job AS other
                WHERE other.state = 'running' \(alive) AND other.\(column) = found.name)
            FROM found WHERE name IS NOT NULL
            """)
        return rows.map { ($0[0], $0[1]) }
    }

    /// The oldest ones of each lane, since whose turn it is is not decided here.
    private static func admit(
        _ database: Database, _ column: String, _ name: String, mark: Int, count: Int
    ) throws {
        for lane in JobPriority.allCases {
            try database.run(
                """
                UPDATE job SET parked = 0 WHERE id IN (
                    SELECT id FROM job INDEXED BY job_\(column)_parked
                    WHERE state = 'queued' AND parked = \(mark) AND \(column) = ? AND lane = ?
                    ORDER BY due_at, id LIMIT ?)
                """, [name, lane.lane, count])
        }
    }
}
