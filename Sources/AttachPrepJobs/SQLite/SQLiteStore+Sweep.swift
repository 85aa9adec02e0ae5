import GRDB
import Logging
import SafeArithmetic
import Synchronization

extension SQLiteStore: StoreKeeping {
    /// Housekeeping: removes what is too old, what nobody needs, and what is over the quota. In small steps, between
    /// which others change what they want; to be called at start and then every minute.
    ///
    /// Over the quota the oldest results go, with their files; their jobs keep the manifest, and have no media then.
    /// - Throws: `queue.unavailable`; what was removed until then stays removed, and the next round goes on.
    public func sweep() async throws -> SweepReport {
        let walksFolders = rounds.begin()
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
        isOverQuota.store(report.isOverQuota, ordering: .relaxed)
        try await wipeDelivered()
        try await shrinkLog()
        return report
    }

    private func sweepJobs(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        for state in JobState.allCases where state.isFinished {
            let seconds = state == .dead ? limits.deadRetentionSeconds : limits.retentionSeconds
            // Bounded: floating-point numbers.
            let oldest = now.subtracting(clamping: Int64(clamping: seconds * 1000))
            while true {
                let media = try await write { database, _ in try Self.removeJobs(state, until: oldest, database) }
                report.jobs += media.count  // Bounded: counts of what is in memory.
                report.add(try await dropResults(media.compactMap(\.self), .retained))
                if media.count < Self.removalCountMax { break }
            }
        }
        return report
    }

    /// - Returns: the media of the jobs that are gone.
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
            let count = try await write { database, _ in try IdempotencyKey.forget(database, at: now) }
            report.idempotencyKeys += count  // Bounded: counts of what is in memory.
            if count < Self.removalCountMax { return report }
        }
    }

    /// Addresses of webhooks that versions before this one delivered.
    private func wipeDelivered() async throws {
        while try await write({ database, _ in try WebhookWiping.wipeDelivered(database) }) == WebhookWiping.countMax {}
    }

    /// What was wiped from the database is in its log until that is written over: the log is emptied instead.
    private func shrinkLog() async throws {
        let pool = pool
        try await files.run { try pool.emptyLog() }
    }
}

extension DatabasePool {
    /// Writes the log back into the database, and empties it: pages as they were before a secret was wiped are in it
    /// until then. Once a minute while a service runs, and at its orderly end, since SQLite itself does not when the
    /// last connection that is closed is a reader's.
    func emptyLog() throws {
        // A reader that is in the way is no fault: nobody waits for it, and the next round tries again.
        try writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            _ = try? database.checkpoint(.truncate)
            try database.execute(sql: "PRAGMA busy_timeout = \(Int(SQLiteStore.busySeconds * 1000))")
        }
    }
}
