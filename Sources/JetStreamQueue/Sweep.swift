import AttachPrep
public import AttachPrepJobs
import GRDB
import Logging
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

extension NATSJobQueue: StoreMaintenance {
    /// Always false: result files are stored elsewhere.
    public var isFull: Bool { false }

    public var unavailableReason: String? {
        if let versionError = connection.versionError { return QueueErrorMapping.sentence(versionError) }
        if !connection.isConnected {
            return "The connection to the NATS servers is lost; it is restored automatically when they are reachable."
        }
        let now = clock.now().steady
        if let outage = streams.withLock({ $0.outages.unavailableReason(at: now, repaired: names.lanes) }) {
            return outage
        }
        guard conflicts.isStalled(at: now) else { return nil }
        return """
            The NATS servers have rejected all claims for \(ClaimStall.stallSeconds) s and no job progresses; \
            their copies of the queue may differ; see the log and the output of "nats stream info \(jobs.streamName)".
            """
    }

    public var refusedClaims: Int { conflicts.total }

    /// Housekeeping: removes expired jobs and idempotency keys, publishes missing lane messages, and removes the
    /// leftovers of crashes. Every machine does this once a minute; concurrent sweeps do not conflict.
    ///
    /// - Throws: `queue.unavailable`; the changes made until then are kept.
    public func sweep() async throws -> SweepReport {
        try await mapError { () async throws -> SweepReport in
            var report = SweepReport()
            try await makeLanes()
            try await sweepLaneLeaders()
            report.jobs = try await sweepFinished()
            report.idempotencyKeys = try await sweepIdempotencyKeys()
            try await sweepLanes()
            try await sweepDrafts()
            try await sweepBatches()
            try await sweepTombstones()
            try await mirror.emptyLog()
            report.add(SweepReport(try await uploadCache.sweep(at: clock.wall())))
            return report
        }
    }

    /// The maximum number of records per step.
    static let sweptCount = 500

    private func sweepFinished() async throws -> Int {
        let now = clock.now().wall
        var count = 0
        for state in JobState.allCases where state.isFinished {
            let seconds = state == .dead ? limits.deadRetentionSeconds : limits.retentionSeconds
            while true {
                let found = try await mirror.finished(
                    state, until: now.subtracting(clamping: Int64(clamping: seconds * 1000)), count: Self.sweptCount)
                let purged = try await purge(found)
                count += purged
                if purged < Self.sweptCount { break }
            }
        }
        return count
    }

    /// Publishes lane messages for jobs that may lack one: the oldest due jobs, and jobs that have been running without
    /// a change for long. The servers accept a message only for a job that has none.
    private func sweepLanes() async throws {
        let moment = clock.now()
        let possiblyUnqueued = try await mirror.possiblyUnqueued(
            dueUntil: moment.wall - Self.unqueuedMilliseconds, receivedUntil: moment.steady - Self.unqueuedMilliseconds,
            count: Self.possiblyUnqueuedCount)
        try await publish(possiblyUnqueued.map(\.value))
    }

    /// A job that is due, or running without a change, for this long may lack its message.
    private static let unqueuedMilliseconds = Int64(Limits.leaseSeconds * 2 * 1000)
    /// The maximum number of jobs per lane. A job without a message eventually becomes one of the oldest.
    private static let possiblyUnqueuedCount = 64

    /// Removes the values of batches that were never completed.
    private func sweepDrafts() async throws {
        let drafts = try await mirror.drafts(
            receivedUntil: clock.now().steady - Self.leftoverMilliseconds, count: Self.sweptCount)
        for draft in drafts where try await jobs.entry(QueueKeys.batch(draft.value.batch ?? ""))?.value == nil {
            let change = KeyValueBucket.Change(QueueKeys.job(draft.value.id), nil, after: draft.revision)
            _ = try await jobs.make(change)
        }
    }

    /// 10 min, longer than any batch takes to be stored.
    private static let leftoverMilliseconds: Int64 = 600_000

    private func sweepIdempotencyKeys() async throws -> Int {
        let oldest = clock.now().wall - Int64(Limits.idempotencySecondsMax * 1000)
        let idempotencyRecords = try await mirror.idempotencyRecords(until: oldest, count: Self.sweptCount)
        let answers = await jobs.makeAll(
            idempotencyRecords.map { KeyValueBucket.Change($0.key, nil, after: $0.revision) })
        return try answers.filter { try $0.get() != nil }.count
    }

    /// Removes the records of batches none of whose jobs refers to them any longer.
    private func sweepBatches() async throws {
        let batches = try await mirror.emptyBatches(
            receivedUntil: clock.now().steady - Self.leftoverMilliseconds, count: Self.sweptCount)
        for answer in await jobs.makeAll(batches.map { KeyValueBucket.Change(QueueKeys.batch($0), nil) }) {
            _ = try answer.get()
        }
    }

    /// Erases the markers of removed keys after all machines have received them.
    private func sweepTombstones() async throws {
        let tombstones = try await mirror.removed(
            receivedUntil: clock.now().steady - Int64(JobWatcher.watchGapSecondsMax * 2 * 1000), count: Self.sweptCount)
        for tombstone in tombstones {
            try await jobs.erase(tombstone.revision)
            try await mirror.erase(tombstone)
        }
    }
}

extension JobMirror {
    func finished(_ state: JobState, until oldest: Int64, count: Int) async throws -> [VersionedJob] {
        try await known(
            "uuid IN (SELECT uuid FROM job WHERE state = ? AND finished_at <= ? ORDER BY finished_at LIMIT ?)",
            [state.rawValue, oldest, count])
    }

    /// The oldest jobs of each lane that have been due since `dueUntil`, and running jobs without a change since
    /// `receivedUntil`.
    func possiblyUnqueued(dueUntil: Int64, receivedUntil: Int64, count: Int) async throws -> [VersionedJob] {
        var found: [VersionedJob] = []
        for lane in 0..<3 {
            found += try await known(
                """
                uuid IN (SELECT uuid FROM job INDEXED BY job_queued WHERE state = 'queued' AND parked = 0 AND lane = ?
                    AND due_at <= ? ORDER BY due_at LIMIT ?)
                """, [lane, dueUntil, count])
        }
        return try await found
            + known(
                "received_at <= ? AND uuid IN (SELECT uuid FROM job WHERE state = 'running') LIMIT ?",
                [receivedUntil, count])
    }

    func drafts(receivedUntil: Int64, count: Int) async throws -> [VersionedJob] {
        try await read { try MirrorTables.drafts("received_at <= ? LIMIT ?", [receivedUntil, count], $0) }
    }

    private func known(_ condition: String, _ arguments: StatementArguments) async throws -> [VersionedJob] {
        try await read { try VersionedJob.all("FROM job WHERE \(condition)", arguments, $0) }
    }

    /// The records of idempotency keys created at or before `oldest`.
    func idempotencyRecords(until oldest: Int64, count: Int) async throws -> [(key: String, revision: UInt64)] {
        let rows = try await read { database in
            try database.rows("SELECT key, revision FROM keys WHERE created_at <= ? LIMIT ?", [oldest, count])
                .map { ($0[0] as String, $0[1] as Int64) }
        }
        return rows.map { ($0, UInt64(clamping: $1)) }
    }

    func emptyBatches(receivedUntil: Int64, count: Int) async throws -> [String] {
        try await read { database in
            try database.rows(
                """
                SELECT id FROM batch WHERE received_at <= ?
                    AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id) LIMIT ?
                """, [receivedUntil, count]
            ).map { $0[0] }
        }
    }

    struct Tombstone: Sendable {
        var id: String
        var revision: UInt64
    }

    /// The markers received at or before `receivedUntil`.
    func removed(receivedUntil: Int64, count: Int) async throws -> [Tombstone] {
        try await read { database in
            try database.rows(
                "SELECT uuid, revision FROM removed WHERE received_at <= ? LIMIT ?", [receivedUntil, count]
            ).map { Tombstone(id: $0[0], revision: UInt64(clamping: $0[1] as Int64)) }
        }
    }

    func erase(_ tombstone: Tombstone) async throws {
        try await write { database, _ in
            try database.run(
                "DELETE FROM removed WHERE uuid = ? AND revision = ?",
                [tombstone.id, Int64(clamping: tombstone.revision)])
        }
    }
}

/// Decides when a lane's consumer that does not deliver messages needs another leader: pure.
struct LaneStall: Sendable {
    /// The last delivered message, and since when later ones are not delivered.
    private var missed: (after: UInt64, since: Int64)?

    /// 10 s: enough for a copy that is merely late to catch up, and short for a lane that stalls.
    static let milliseconds: Int64 = 10_000

    /// - Parameters:
    ///   - delivered: the last delivered message while later ones are missing; nil when none is missing.
    ///   - steady: milliseconds of the steady clock.
    /// - Returns: Whether to elect a leader now. After that, the time restarts.
    mutating func isDue(missedAfter delivered: UInt64?, at steady: Int64) -> Bool {
        guard let delivered else {
            missed = nil
            return false
        }
        guard let missed, missed.after == delivered else {
            missed = (delivered, steady)
            return false
        }
        guard steady.subtracting(clamping: missed.since) >= Self.milliseconds else { return false }
        self.missed = nil
        return true
    }
}

extension NATSJobQueue {
    /// Makes the servers elect another leader for a lane whose consumer no longer receives the stream's messages.
    func sweepLaneLeaders() async throws {
        for lane in JobPriority.allCases {
            let configuration = ConsumerConfiguration(stream: names.lanes, filter: names.laneFilter(lane))
            let missed = try await stream.missedMessages(lane.rawValue, configuration)
            let isDue = laneStalls.withLock { stalls in
                stalls[lane, default: LaneStall()].isDue(missedAfter: missed, at: clock.now().steady)
            }
            guard isDue, let missed else { continue }
            logger.warning(
                "the NATS server that leads a lane's consumer lacks messages; electing another leader",
                metadata: ["stream": "\(names.lanes)", "consumer": "\(lane.rawValue)", "number": "\(missed)"])
            do {
                try await stream.electLeader(ofConsumer: lane.rawValue, of: names.lanes)
            } catch {
                logger.error(
                    "cannot elect another leader; run: nats consumer cluster step-down \(names.lanes) \(lane.rawValue)",
                    metadata: ["error": "\(error)"])
            }
        }
    }
}
