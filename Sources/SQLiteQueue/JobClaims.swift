import AttachPrep
public import AttachPrepJobs
import GRDB
import Logging
import RichPush
import SafeArithmetic
import Synchronization

extension SQLiteStore {
    public func claim(
        _ count: Int, by worker: String, lease: Duration, hostLimit: Int
    ) async throws -> [ClaimedJob] {
        let claim = JobClaim(
            worker: worker, leaseMilliseconds: lease.milliseconds, hostLimit: hostLimit,
            ownerLimit: limits.runningPerCallerMax)
        var taken = ClaimBatch()
        // Each step is its own transaction, so that other changes can run while a long backlog is parked.
        repeat { taken = try await claimBatch(count, claim) } while taken.records.isEmpty && taken.mayBeMore
        return taken.records.compactMap { record in
            do {
                return try record.claimed()
            } catch {
                // An unreadable row must not block other jobs; its lease expires, and its delay grows with each loss.
                logger.error(
                    "cannot read a claimed job", metadata: ["job": "\(record.record.uuid)", "error": "\(error)"])
                return nil
            }
        }
    }

    private func claimBatch(_ count: Int, _ claim: JobClaim) async throws -> ClaimBatch {
        let moment = clock.now()
        try await jumps.adjust(moment, in: commits)
        let (laneRotation, excusedUntil) = (laneRotation, failedRenewals.excusedUntil)
        return try await write { database, changes in
            changes += try ExpiredLeases.reclaim(
                database, until: moment.steady, excusedUntil: excusedUntil, at: moment)
            try JobParking.admit(database, hostLimit: claim.hostLimit, ownerLimit: claim.ownerLimit)
            let taken = try claim.claimedJobs(count, laneRotation, database, at: moment)
            changes += taken.records.compactMap { record in
                JobID(record.record.uuid).map { JobFeed.Change(job: $0, state: .running) }
            }
            return taken
        }
    }
}

/// The result of one step of a claim.
struct ClaimBatch: Sendable {
    var records: [ClaimedRecord] = []
    /// Whether the step ended before it had examined all due jobs.
    var mayBeMore = false
}

/// Claims jobs: one statement finds a job and gives it a lease.
struct JobClaim: Sendable {
    var worker: String
    var leaseMilliseconds: Int64
    var hostLimit: Int
    var ownerLimit: Int

    func claimedJobs(
        _ count: Int, _ laneRotation: LaneRotation, _ database: Database, at moment: StoreMoment
    ) throws -> ClaimBatch {
        var taken = ClaimBatch()
        var empty: Set<JobPriority> = []
        while taken.records.count < count, empty.count < JobPriority.allCases.count {
            for lane in laneRotation.next() where !empty.contains(lane) {
                if let record = try takeOne(lane, &taken.mayBeMore, database, at: moment) {
                    taken.records.append(record)
                    break
                }
                empty.insert(lane)
            }
        }
        return taken
    }

    /// The columns that a claim sets: `?3` is the time, `?4` the token, `?5` the worker, `?6` the end of the lease.
    private static let begun = """
        state = 'running', attempts = attempts + 1, started_at = ?3, wait = 0, token = ?4, worker = ?5, lease_until = ?6
        """

    /// Claims the first job of a lane that can run, and parks the jobs before it that cannot.
    private func takeOne(
        _ lane: JobPriority, _ mayBeMore: inout Bool, _ database: Database, at moment: StoreMoment
    ) throws -> ClaimedRecord? {
        for _ in 0..<JobParking.windowsMax {
            if let record = try takeFromWindow(lane, database, at: moment) { return record }
            guard
                try JobParking.park(
                    database, lane: lane, hostLimit: hostLimit, ownerLimit: ownerLimit, at: moment)
            else { return nil }
        }
        mayBeMore = true
        return nil
    }

    private func takeFromWindow(
        _ lane: JobPriority, _ database: Database, at moment: StoreMoment
    ) throws -> ClaimedRecord? {
        let token = Int64.random(in: 1 ... .max)
        let row = try database.row(
            """
            UPDATE job SET \(Self.begun)
            WHERE id = (SELECT id FROM (\(JobParking.window)) AS candidate
                WHERE \(JobParking.canRun(ownerLimit: ownerLimit)) LIMIT 1)
            RETURNING \(ClaimedRecord.columns)
            """,
            [lane.lane, hostLimit, moment.wall, token, worker, moment.steady.adding(clamping: leaseMilliseconds)])
        return row.map { ClaimedRecord($0, token: token) }
    }
}

/// Parks jobs that cannot run for now, so that claims do not have to examine them.
///
/// A claim examines a window of the first jobs of a lane. When all of them belong to busy hosts or callers, or to work
/// keys that are running, they are parked; when the host, caller or key is free again, as many jobs as can run are
/// unparked. So a backlog of 100,000 jobs for one slow host costs one parking per job, and does not slow down others.
enum JobParking {
    /// Number of jobs of a lane in a window.
    static let windowCount = 64
    /// Maximum number of windows per transaction: parking this many takes about 20 ms, during which other changes wait.
    static let windowsMax = 32

    /// Whether the job `candidate` can run: its owner has fewer than `ownerLimit` running jobs, its host has fewer than
    /// `?2`, and no job with its work key is running.
    static func canRun(ownerLimit: Int) -> String {
        """
        \(ownerLimit) > \(running("candidate")) AND
        NOT EXISTS (SELECT 1 FROM job AS other INDEXED BY job_alive_key
            WHERE other.state IN ('queued', 'running') AND other.state = 'running' AND other.key = candidate.key)
        AND (candidate.host IS NULL OR ?2 >
            (SELECT count(*) FROM job AS other INDEXED BY job_running_host
                WHERE other.state = 'running' AND other.host = candidate.host))
        """
    }

    /// The number of running jobs with the owner of a job.
    private static func running(_ job: String) -> String {
        """
        (SELECT count(*) FROM job AS other INDEXED BY job_running_owner
            WHERE other.state = 'running' AND other.owner = \(job).owner)
        """
    }

    /// The first jobs of lane `?1` that are due at `?3`, in order.
    static let window = """
        SELECT id, owner, host, key FROM job INDEXED BY job_queued
        WHERE state = 'queued' AND parked = 0 AND lane = ?1 AND due_at <= ?3 ORDER BY due_at, id LIMIT \(windowCount)
        """

    /// Parks the jobs of a window that cannot run.
    ///
    /// - Returns: Whether another window may contain more jobs: false when this one was not full.
    static func park(
        _ database: Database, lane: JobPriority, hostLimit: Int, ownerLimit: Int, at moment: StoreMoment
    ) throws -> Bool {
        try database.run(
            """
            UPDATE job SET parked = CASE WHEN EXISTS (SELECT 1 FROM job AS other INDEXED BY job_alive_key
                WHERE other.state IN ('queued', 'running') AND other.state = 'running' AND other.key = job.key)
                THEN 2 WHEN \(running("job")) >= \(ownerLimit) THEN 3 ELSE 1 END
            WHERE id IN (SELECT id FROM (\(window)) AS candidate WHERE NOT (\(canRun(ownerLimit: ownerLimit))))
            """, [lane.lane, hostLimit, moment.wall])
        return database.changesCount >= windowCount
    }

    static func admit(_ database: Database, hostLimit: Int, ownerLimit: Int) throws {
        for (host, running) in try parked("host", mark: 1, database) where running < hostLimit {
            try admit(database, "host", host, mark: 1, count: hostLimit.subtracting(clamping: running))
        }
        for (key, running) in try parked("key", mark: 2, database) where running == 0 {
            try admit(database, "key", key, mark: 2, count: 1)
        }
        for (owner, running) in try parked("owner", mark: 3, database) where running < ownerLimit {
            try admit(database, "owner", owner, mark: 3, count: ownerLimit.subtracting(clamping: running))
        }
    }

    /// Returns the hosts, owners or keys with parked jobs, and their numbers of running jobs; one index seek each.
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

    /// Unparks the oldest jobs of each lane; the claim chooses among the lanes.
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
