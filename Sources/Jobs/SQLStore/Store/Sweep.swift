public import AttachPrepJobs
import Logging
import SafeArithmetic
import Synchronization

extension SQLJobStore: StoreMaintenance {
    /// Removes expired data, unneeded data, and results over the quota, in small transactions between which other
    /// changes can run. Call it at start and then every minute.
    ///
    /// Over the quota the oldest results are removed with their files; their jobs keep the manifest, without media.
    /// - Throws: `queue.unavailable`; what was removed before stays removed, and the next sweep continues.
    public func sweep() async throws -> SweepReport {
        let walksFolders = sweepProgress.begin()
        let now = try await read { [self] in try databaseMilliseconds($0) }
        var report = SweepReport()
        report.add(try await sweepJobs(at: now))
        report.add(try await sweepIdempotencyKeys())
        report.add(try await sweepReceipts(at: now))
        try await sweepActions(at: now)
        try await sweepBatches(at: now)
        report.add(try await sweepUploads())
        report.add(try await sweepResults(at: now))
        if walksFolders { report.add(try await sweepUnnamedFiles()) }
        report.add(SweepReport(try await uploadBytes.sweepCopies(at: clock.wall())))
        report.add(try await sweepOverQuota(at: now))
        report.mediaBytes = try await mediaBytes()
        report.isOverQuota = files != nil && report.mediaBytes > limits.mediaQuotaBytes
        let full = report.isOverQuota ? try await ownersOverShare() : []
        fullOwners.withLock { $0 = full }
        isOverQuota.store(report.isOverQuota, ordering: .relaxed)
        try await sweepStragglers()
        try await sweepConnections()
        try await database.cleanUp()
        return report
    }

    /// Moves due jobs that appeared after a claim had passed their place to where the next claim looks.
    func sweepStragglers() async throws {
        let found = try await read { [self] connection in
            try connection.rows(
                ClaimState.stragglers(connection.dialect, limit: Self.removalCountMax),
                [.integer(try databaseMilliseconds(connection))]
            ).map { $0[0] as String }
        }
        guard !found.isEmpty else { return }
        try await claims.write { transaction in
            transaction.later(
                """
                UPDATE job SET place = \(ClaimState.floorOfJob(now: "$2", transaction.dialect))
                WHERE \(transaction.dialect.isAmong("id", 1)) AND state = 'queued'
                """, [.texts(found), .integer(transaction.moment.wall)])
        }
    }

    /// Rows of `writer` without a transaction for this long belong to processes that have ended, in milliseconds.
    private static let connectionMillisecondsMax: Int64 = 86_400_000

    private func sweepConnections() async throws {
        guard database.dialect == .postgres else { return }
        try await claims.write { transaction in
            let oldest = transaction.moment.wall.subtracting(clamping: Self.connectionMillisecondsMax)
            try WriterCounts.fold(transaction, unusedSince: oldest)
            transaction.later("DELETE FROM worker WHERE seen_at < $1", [.integer(oldest)])
        }
    }

    /// The owners whose uploads and results take more than an equal share of the quota.
    private func ownersOverShare() async throws -> Set<String> {
        let quota = limits.mediaQuotaBytes
        let rows = try await read { connection in
            try connection.rows(
                """
                SELECT owner, sum(bytes) FROM (
                    SELECT owner, bytes FROM upload
                    UNION ALL
                    SELECT used.owner, result.bytes FROM
                        (SELECT DISTINCT owner, media FROM finished_job WHERE media IS NOT NULL) AS used
                        JOIN result ON result.media = used.media) AS file
                GROUP BY owner
                """
            ).map { (owner: $0[0] as String, bytes: $0[1] as Int) }
        }
        let share = quota / max(1, rows.count)
        return Set(rows.filter { $0.bytes > share }.map(\.owner))
    }

    private func sweepJobs(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        for state in JobState.allCases where state.isFinished {
            let seconds = state == .dead ? limits.deadRetentionSeconds : limits.retentionSeconds
            let oldest = now.subtracting(clamping: Int64(clamping: seconds * 1000))
            while true {
                let media = try await remove(
                    """
                    state = '\(state.rawValue)' AND finished_at <= $1 AND NOT EXISTS (SELECT 1 FROM webhook
                        WHERE webhook.job = finished_job.id AND webhook.state = 'pending')
                    """, arguments: [.integer(oldest)], state: state)
                report.jobs += media.count
                report.add(try await dropResults(media.compactMap(\.self), .retained))
                if media.count < Self.removalCountMax { break }
            }
        }
        return report
    }

    private func sweepIdempotencyKeys() async throws -> SweepReport {
        var report = SweepReport()
        while true {
            let count = try await write { try IdempotencyKey.deleteExpired($0) }
            report.idempotencyKeys += count
            if count < Self.removalCountMax { return report }
        }
    }
}

/// The position of sweeps that continue over several rounds.
final class SweepProgress: Sendable {
    private struct State {
        var count = 0
        var lastResult: ResultPosition?
    }

    /// Folders are walked in the first round and then every 60 rounds (once an hour): unnamed files are left by crashes
    /// only.
    private static let walkEvery = 60

    private let state = Mutex(State())

    /// - Returns: Whether folders are walked in this round.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.count += 1 }
            return state.count % Self.walkEvery == 0
        }
    }

    /// The last result that was examined; nil starts from the beginning.
    var lastResult: ResultPosition? {
        get { state.withLock { $0.lastResult } }
        set { state.withLock { $0.lastResult = newValue } }
    }
}

/// The position of a result in the order of last use.
struct ResultPosition: Sendable, Hashable {
    var usedAt: Int64
    var media: String
}
