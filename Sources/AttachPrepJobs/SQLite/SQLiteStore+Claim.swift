import AttachPrep
import GRDB
import Logging
import RichPush
import SafeArithmetic

extension SQLiteStore {
    public func claim(
        _ count: Int, by worker: String, lease: Duration, hostLimit: Int
    ) async throws -> [ClaimedJob] {
        let claim = JobClaim(worker: worker, leaseMilliseconds: lease.milliseconds, hostLimit: hostLimit)
        var taken = TakenJobs()
        // Others get their turn while a long backlog that cannot run is set aside.
        repeat { taken = try await take(count, claim) } while taken.records.isEmpty && taken.mayBeMore
        return taken.records.compactMap { record in
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

    private func take(_ count: Int, _ claim: JobClaim) async throws -> TakenJobs {
        let moment = clock.now()
        try await jumps.follow(moment, in: commits)
        let (turns, isolation) = (turns, isolation)
        return try await write { database, changes in
            changes += try LostLeases.takeBack(database, at: moment)  // Bounded: lists, not numbers.
            try JobParking.admit(database, hostLimit: claim.hostLimit)
            let taken = try claim.take(count, turns, isolation, database, at: moment)
            changes += taken.records.compactMap { record in  // Bounded: lists, not numbers.
                JobID(record.record.uuid).map { JobFeed.Change(job: $0, state: .running) }
            }
            return taken
        }
    }
}

/// What one step of a claim has found.
struct TakenJobs: Sendable {
    var records: [ClaimedRecord] = []
    /// Whether it stopped before it had looked at all that is due.
    var mayBeMore = false
}

/// How jobs are claimed: each by one statement that finds it and gives it its lease.
struct JobClaim: Sendable {
    var worker: String
    var leaseMilliseconds: Int64
    var hostLimit: Int

    func take(
        _ count: Int, _ turns: LaneTurns, _ isolation: IsolationTurn, _ database: Database, at moment: StoreMoment
    ) throws -> TakenJobs {
        guard count > 0 else { return TakenJobs() }
        let facts = try JobIsolation.facts(database, at: moment)
        let decision = IsolationDecision(
            hasAlone: facts.hasAlone, inFlight: facts.inFlight, isAloneDue: facts.isAloneDue,
            wasAlone: isolation.wasAlone)
        switch decision {
        case .wait: return TakenJobs()
        case .alone: return try takeAlone(isolation, database, at: moment)
        case .ordinary, .ordinaryFirst:
            let taken = try take(count, turns, database, at: moment)
            if taken.records.isEmpty, !taken.mayBeMore, decision == .ordinaryFirst {
                return try takeAlone(isolation, database, at: moment)
            }
            if !taken.records.isEmpty { isolation.note(alone: false) }
            return taken
        }
    }

    /// One job, for a process that has nothing else in flight; none when only a webhook waits to be sent alone.
    private func takeAlone(
        _ isolation: IsolationTurn, _ database: Database, at moment: StoreMoment
    ) throws -> TakenJobs {
        guard let id = try database.number(JobIsolation.nextJob, [moment.wall]) else { return TakenJobs() }
        isolation.note(alone: true)
        let token = Int64.random(in: 1 ... .max)
        let row = try database.row(
            """
            UPDATE job SET \(Self.begun) WHERE id = ?1 RETURNING \(ClaimedRecord.columns)
            """, [id, 0, moment.wall, token, worker, moment.steady.adding(clamping: leaseMilliseconds)])
        return TakenJobs(records: row.map { [ClaimedRecord($0, token: token)] } ?? [])
    }

    /// What a claim changes: `?3` the time, `?4` the token, `?5` the worker, `?6` the end of the lease.
    private static let begun = """
        state = 'running', attempts = attempts + 1, started_at = ?3, wait = 0, token = ?4, worker = ?5, lease_until = ?6
        """

    private func take(
        _ count: Int, _ turns: LaneTurns, _ database: Database, at moment: StoreMoment
    ) throws -> TakenJobs {
        var taken = TakenJobs()
        var empty: Set<JobPriority> = []
        while taken.records.count < count, empty.count < JobPriority.allCases.count {
            for lane in turns.next() where !empty.contains(lane) {
                if let record = try takeOne(lane, &taken.mayBeMore, database, at: moment) {
                    taken.records.append(record)
                    break
                }
                empty.insert(lane)
            }
        }
        return taken
    }

    /// The first job of a lane that can run; what stands before it in the way is parked.
    private func takeOne(
        _ lane: JobPriority, _ mayBeMore: inout Bool, _ database: Database, at moment: StoreMoment
    ) throws -> ClaimedRecord? {
        for _ in 0..<JobParking.windowsMax {
            if let record = try takeFromWindow(lane, database, at: moment) { return record }
            guard try JobParking.park(database, lane: lane, hostLimit: hostLimit, at: moment) else { return nil }
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
            WHERE id = (SELECT id FROM (\(JobParking.window)) AS candidate WHERE \(JobParking.canRun) LIMIT 1)
            RETURNING \(ClaimedRecord.columns)
            """,
            [lane.lane, hostLimit, moment.wall, token, worker, moment.steady.adding(clamping: leaseMilliseconds)])
        return row.map { ClaimedRecord($0, token: token) }
    }
}
