import GRDB
import Logging
import SafeArithmetic

/// Why a result is looked at: decides what still speaks for it.
enum ResultRemoval: Sendable {
    /// Its job was purged by somebody who wants it gone.
    case purged
    /// Nobody may need it any more.
    case retained
    /// Its bytes are over the quota.
    case overQuota

    /// What keeps a result; `?2` is the time.
    var needs: String {
        let work = """
            EXISTS (SELECT 1 FROM job WHERE job.key = result.key AND job.state IN ('queued', 'running'))
            """
        let jobs = "EXISTS (SELECT 1 FROM job WHERE job.media = result.media)"
        return switch self {
        case .purged: "(\(work) OR \(jobs))"
        case .retained: "(\(work) OR \(jobs) OR coalesce(result.fresh_until > ?2, 0))"
        case .overQuota:
            """
            (\(work) OR EXISTS (SELECT 1 FROM job JOIN webhook ON webhook.job = job.id
                WHERE job.media = result.media AND webhook.state = 'pending'))
            """
        }
    }
}

extension SQLiteStore {
    /// Results that are looked at in one round: some ten milliseconds of reading.
    private static let examinedCountMax = 5_000
    /// Results removed over the quota in one step.
    private static let quotaStepCount = 100

    /// Removes results that nothing speaks for, with the files that only they had.
    func dropResults(_ media: [String], _ reason: ResultRemoval) async throws -> SweepReport {
        var report = SweepReport()
        let now = clock.now().wall
        for start in stride(from: 0, to: media.count, by: Self.removalCountMax) {
            // Bounded: lengths and places within what is in memory.
            let some = try StoredJSON.text(Array(media[start..<min(start + Self.removalCountMax, media.count)]))
            let (count, contents) = try await write { database, _ in
                try Self.removeResults(some, reason, database, at: now)
            }
            report.results += count  // Bounded: lengths and places within what is in memory.
            report.add(try await removeContents(contents))
        }
        return report
    }

    /// - Returns: how many there were, and the contents that they had.
    private static func removeResults(
        _ media: String, _ reason: ResultRemoval, _ database: Database, at now: Int64
    ) throws -> (Int, [String]) {
        let gone = try database.rows(
            """
            SELECT media FROM result WHERE media IN (SELECT value FROM json_each(?1)) AND ?2 IS NOT NULL
            AND NOT \(reason.needs)
            """, [media, now]
        ).map { $0[0] as String }
        let list = try StoredJSON.text(gone)
        let contents = try database.rows(
            "SELECT DISTINCT sha256 FROM result_file WHERE media IN (SELECT value FROM json_each(?))", [list])
        try database.run("UPDATE job SET media = NULL WHERE media IN (SELECT value FROM json_each(?))", [list])
        try database.run("DELETE FROM result WHERE media IN (SELECT value FROM json_each(?))", [list])
        return (gone.count, contents.map { $0[0] })
    }

    /// Looks at some of the results that no job has ended with for a while, and removes those nobody needs.
    func sweepResults(at now: Int64) async throws -> SweepReport {
        // Bounded: floating-point numbers.
        let until = now.subtracting(clamping: Int64(clamping: limits.mediaAgeSecondsMin * 1000))
        let place = rounds.lastResult ?? ResultPlace(usedAt: .min, media: "")
        let (unneeded, last) = try await read { database in
            let seen = try database.rows(
                """
                SELECT result.used_at, result.media, \(ResultRemoval.retained.needs) FROM result
                WHERE result.used_at <= ?3 AND (result.used_at, result.media) > (?4, ?5) AND ?1 IS NULL
                ORDER BY result.used_at, result.media LIMIT \(Self.examinedCountMax)
                """, [nil, now, until, place.usedAt, place.media])
            let last = seen.count < Self.examinedCountMax ? nil : seen.last
            return (
                seen.filter { $0[2] == 0 }.map { $0[1] as String },
                last.map { ResultPlace(usedAt: $0[0], media: $0[1]) }
            )
        }
        rounds.lastResult = last
        return try await dropResults(unneeded, .retained)
    }

    /// Removes the oldest results until what is left is within the quota.
    func sweepOverQuota(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        // Bounded: floating-point numbers.
        let until = now.subtracting(clamping: Int64(clamping: limits.mediaAgeSecondsMin * 1000))
        while try await mediaBytes() > limits.mediaQuotaBytes {
            let oldest = try await read { database in
                try database.rows(
                    """
                    SELECT result.media FROM result WHERE result.used_at <= ?1 AND ?2 IS NULL AND result.bytes > 0
                    AND NOT \(ResultRemoval.overQuota.needs)
                    ORDER BY result.used_at LIMIT \(Self.quotaStepCount)
                    """, [until, nil]
                ).map { $0[0] as String }
            }
            let removed = try await dropToQuota(oldest)
            report.add(removed)
            if removed.results == 0 { break }
        }
        return report
    }

    /// As few of them as need be, in their order.
    private func dropToQuota(_ media: [String]) async throws -> SweepReport {
        var report = SweepReport()
        for one in media where try await mediaBytes() > limits.mediaQuotaBytes {
            report.add(try await dropResults([one], .overQuota))
        }
        return report
    }
}
