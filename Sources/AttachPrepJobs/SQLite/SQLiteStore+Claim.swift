import AttachPrep
import GRDB
import Logging
import RichPush

extension SQLiteStore {
    public func claim(
        _ count: Int, by worker: String, lease: Duration, hostLimit: Int
    ) async throws -> [ClaimedJob] {
        let moment = clock.now()
        let claim = JobClaim(worker: worker, leaseMilliseconds: lease.milliseconds, hostLimit: hostLimit)
        let (turns, hasJumped) = (turns, jumps.isBehind(moment))
        let records = try await write { database, changes in
            if hasJumped { try ClockJumps.cut(database, at: moment) }
            changes += try LostLeases.takeBack(database, at: moment)
            try JobParking.admit(database, hostLimit: hostLimit)
            let records = try claim.take(count, turns, database, at: moment)
            changes += records.compactMap { record in
                JobID(record.record.uuid).map { JobFeed.Change(job: $0, state: .running) }
            }
            return records
        }
        jumps.note(moment)
        return records.compactMap { record in
            do {
                return try record.claimed()
            } catch {
                // One bad row must not stop the others; its lease runs out, and it comes back later each time.
                logger.error(
                    "a claimed job cannot be read", metadata: ["job": "\(record.record.uuid)", "error": "\(error)"])
                return nil
            }
        }
    }
}

/// How jobs are claimed: each by one statement that finds it and gives it its lease.
struct JobClaim: Sendable {
    var worker: String
    var leaseMilliseconds: Int64
    var hostLimit: Int

    func take(
        _ count: Int, _ turns: LaneTurns, _ database: Database, at moment: StoreMoment
    ) throws -> [ClaimedRecord] {
        var records: [ClaimedRecord] = []
        var empty: Set<JobPriority> = []
        while records.count < count, empty.count < JobPriority.allCases.count {
            for lane in turns.next() where !empty.contains(lane) {
                if let record = try takeOne(lane, database, at: moment) {
                    records.append(record)
                    break
                }
                empty.insert(lane)
            }
        }
        return records
    }

    /// The first job of a lane that can run; what stands before it in the way is parked.
    private func takeOne(
        _ lane: JobPriority, _ database: Database, at moment: StoreMoment
    ) throws -> ClaimedRecord? {
        repeat {
            if let record = try takeFromWindow(lane, database, at: moment) { return record }
        } while try JobParking.park(database, lane: lane, hostLimit: hostLimit, at: moment)
        return nil
    }

    private func takeFromWindow(
        _ lane: JobPriority, _ database: Database, at moment: StoreMoment
    ) throws -> ClaimedRecord? {
        let token = Int64.random(in: 1 ... .max)
        let row = try database.row(
            """
            UPDATE job SET state = 'running', attempts = attempts + 1, started_at = ?3, wait = 0, token = ?4,
                worker = ?5, lease_until = ?6
            WHERE id = (SELECT id FROM (\(JobParking.window)) AS candidate WHERE \(JobParking.canRun) LIMIT 1)
            RETURNING \(ClaimedRecord.columns)
            """,
            [lane.lane, hostLimit, moment.wall, token, worker, moment.steady + leaseMilliseconds])
        return row.map { ClaimedRecord($0, token: token) }
    }
}
