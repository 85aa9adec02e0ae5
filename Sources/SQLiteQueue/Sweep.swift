public import AttachPrepJobs
import GRDB
import Logging
import SafeArithmetic
import Synchronization

extension SQLiteStore: StoreMaintenance {
    /// Removes expired data, unneeded data, and results over the quota, in small transactions between which other
    /// changes can run. Call it at start and then every minute.
    ///
    /// Over the quota the oldest results are removed with their files; their jobs keep the manifest, without media.
    /// - Throws: `queue.unavailable`; what was removed before stays removed, and the next sweep continues.
    public func sweep() async throws -> SweepReport {
        let walksFolders = sweepProgress.begin()
        let now = clock.now().wall
        var report = SweepReport()
        report.add(try await sweepJobs(at: now))
        report.add(try await sweepIdempotencyKeys(at: now))
        report.add(try await sweepReceipts(at: now))
        report.add(try await sweepUploads(at: now))
        report.add(try await sweepResults(at: now))
        if walksFolders { report.add(try await sweepUnnamedFiles()) }
        report.add(try await sweepOverQuota(at: now))
        report.mediaBytes = try await mediaBytes()
        report.isOverQuota = report.mediaBytes > limits.mediaQuotaBytes
        let full = report.isOverQuota ? try await ownersOverShare() : []
        fullOwners.withLock { $0 = full }
        isOverQuota.store(report.isOverQuota, ordering: .relaxed)
        try await redactDelivered()
        try await shrinkLog()
        return report
    }

    /// The owners whose uploads and results take more than an equal share of the quota.
    private func ownersOverShare() async throws -> Set<String> {
        let quota = limits.mediaQuotaBytes
        let rows = try await read { database in
            try database.rows(
                """
                SELECT owner, sum(bytes) FROM (
                    SELECT owner, bytes FROM upload
                    UNION ALL
                    SELECT used.owner, result.bytes FROM
                        (SELECT DISTINCT owner, media FROM job WHERE media IS NOT NULL) AS used
                        JOIN result ON result.media = used.media)
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
                let media = try await write { database, _ in try Self.removeJobs(state, until: oldest, database) }
                report.jobs += media.count
                report.add(try await dropResults(media.compactMap(\.self), .retained))
                if media.count < Self.removalCountMax { break }
            }
        }
        return report
    }

    /// - Returns: The media ids of the removed jobs.
    private static func removeJobs(_ state: JobState, until oldest: Int64, _ database: Database) throws -> [String?] {
        let rows = try database.rows(
            """
            DELETE FROM job WHERE id IN (SELECT id FROM job WHERE state = ? AND finished_at <= ?
                AND NOT EXISTS (SELECT 1 FROM webhook WHERE webhook.job = job.id AND webhook.state = 'pending')
                ORDER BY finished_at LIMIT \(removalCountMax))
            RETURNING media
            """, [state.rawValue, oldest])
        return rows.map { $0[0] }
    }

    private func sweepIdempotencyKeys(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        while true {
            let count = try await write { database, _ in try IdempotencyKey.deleteExpired(database, at: now) }
            report.idempotencyKeys += count
            if count < Self.removalCountMax { return report }
        }
    }

    /// Redacts the URLs of webhooks that earlier versions delivered.
    private func redactDelivered() async throws {
        while try await write({ database, _ in try WebhookRedaction.redactDelivered(database) })
            == WebhookRedaction.countMax
        {}
    }

    /// Deleted secrets remain in the write-ahead log until it is overwritten, so it is truncated.
    private func shrinkLog() async throws {
        let pool = pool
        try await files.run { try pool.emptyLog() }
    }
}

extension DatabasePool {
    /// Checkpoints and truncates the write-ahead log, which contains pages from before secrets were deleted. Called
    /// once a minute while a service runs and at its orderly end, because SQLite does not do so when the last
    /// connection to close is a reader's.
    package func emptyLog() throws {
        // A reader that blocks the checkpoint is not an error: do not wait for it; the next sweep tries again.
        try writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            _ = try? database.checkpoint(.truncate)
            try database.execute(sql: "PRAGMA busy_timeout = \(Int(SQLiteStore.busySeconds * 1000))")
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
