public import AttachPrep
public import AttachPrepJobs
public import AttachPrepModel
public import FoundationEssentials
import GRDB
import Glibc
import Logging
import RichPush
import SafeArithmetic

extension SQLiteStore: ResultStore {
    public func result(for key: WorkKey) async throws -> StoredResult? {
        let files = files
        return try await read { database -> ResultRecord? in
            let row = try database.row(
                """
                SELECT media, manifest, freshness, fetched_at FROM result WHERE key = ?
                ORDER BY fetched_at DESC LIMIT 1
                """, [key.text])
            guard let record = row.map(ResultRecord.init) else { return nil }
            let contents = try database.rows("SELECT sha256 FROM result_file WHERE media = ?", [record.media])
            // Files may have been deleted manually.
            let areThere = contents.allSatisfy { unsafe access(files.path($0[0]), R_OK) == 0 }
            return areThere ? record : nil
        }?.result()
    }

    public func store(
        _ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date
    ) async throws -> StoredResult {
        let result = StoredResult(media: .make(), manifest: manifest, freshness: freshness, fetchedAt: fetchedAt)
        let contents = folder == nil ? [] : ResultFile.all(of: manifest)
        let new = try NewResult(result, contents, key, at: clock.now().wall)
        files.hold(contents.map(\.sha256))
        defer { files.release(contents.map(\.sha256)) }
        if let folder { try await files.moveIntoContent(contents, from: folder) }
        try await write { database, _ in try new.insert(database) }
        return result
    }

    public func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {
        let text = try StoredJSON.text(freshness)
        try await write { database, _ in
            try database.run(
                "UPDATE result SET freshness = ?, fresh_until = ?, fetched_at = max(fetched_at, ?) WHERE media = ?",
                [text, freshness.freshUntil?.milliseconds, fetchedAt.milliseconds, media.text])
        }
    }

    public func file(_ name: String, of media: MediaID) async throws -> StoredFile? {
        let files = files
        return try await read { database in
            try database.row(
                "SELECT mime_type, bytes, sha256 FROM result_file WHERE media = ? AND name = ?", [media.text, name]
            ).map {
                StoredFile(path: files.path($0[2]), name: name, mimeType: $0[0], bytes: $0[1], sha256: $0[2])
            }
        }
    }

    /// Total size of all result and upload files in bytes.
    public func mediaBytes() async throws -> Int {
        Int(clamping: try await read { try $0.number("SELECT number FROM tally WHERE name = 'mediaBytes'") } ?? 0)
    }
}

/// A row of `result`; its JSON is decoded after it has left the database thread.
struct ResultRecord: Sendable {
    var media: String
    var manifest: String
    var freshness: String?
    var fetchedAt: Int64

    init(_ row: StoredRow) {
        media = row[0]
        manifest = row[1]
        freshness = row[2]
        fetchedAt = row[3]
    }

    func result() throws -> StoredResult {
        guard let media = MediaID(media) else { throw StorageErrors.unreadable("a result") }
        return StoredResult(
            media: media, manifest: try StoredJSON.value(manifest, "a manifest"),
            freshness: try freshness.map { try StoredJSON.value($0, "a result's freshness") },
            fetchedAt: Date(milliseconds: fetchedAt))
    }
}

/// A result as database rows.
struct NewResult: Sendable {
    private let media: String
    private let key: String
    private let manifest: String
    private let freshness: String?
    private let freshUntil: Int64?
    private let fetchedAt: Int64
    private let now: Int64
    private let files: [ResultFile]

    init(_ result: StoredResult, _ files: [ResultFile], _ key: WorkKey, at now: Int64) throws {
        media = result.media.text
        self.key = key.text
        manifest = try StoredJSON.text(result.manifest)
        freshness = try result.freshness.map { try StoredJSON.text($0) }
        freshUntil = result.freshness?.freshUntil?.milliseconds
        fetchedAt = result.fetchedAt.milliseconds
        self.now = now
        self.files = files
    }

    func insert(_ database: Database) throws {
        try database.run(
            """
            INSERT INTO result (media, key, manifest, freshness, fresh_until, fetched_at, used_at, bytes)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [media, key, manifest, freshness, freshUntil, fetchedAt, now, files.map(\.bytes).reduce(0, +)])
        for file in files {
            try database.run(
                "INSERT OR IGNORE INTO content (sha256, bytes) VALUES (?, ?)", [file.sha256, file.bytes])
            try database.run(
                "INSERT INTO result_file (media, name, mime_type, bytes, sha256) VALUES (?, ?, ?, ?, ?)",
                [media, file.name, file.mimeType, file.bytes, file.sha256])
        }
    }
}

/// Why a result is to be removed, which decides what can keep it.
enum ResultRemoval: Sendable {
    /// Its job was purged by an operator.
    case purged
    /// Its retention has ended.
    case retained
    /// The files exceed the quota.
    case overQuota

    /// The SQL condition that keeps a result; `?2` is the time.
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
    /// Results examined per round: about 10 ms of reading.
    private static let examinedCountMax = 5_000
    /// Results selected per query while over the quota.
    private static let quotaStepCount = 100

    /// Removes those of the given results that nothing needs, and the files that only they used.
    func dropResults(_ media: [String], _ reason: ResultRemoval) async throws -> SweepReport {
        var report = SweepReport()
        let now = clock.now().wall
        for start in stride(from: 0, to: media.count, by: Self.removalCountMax) {
            let some = try StoredJSON.text(Array(media[start..<min(start + Self.removalCountMax, media.count)]))
            let (count, contents) = try await write { database, _ in
                try Self.removeResults(some, reason, database, at: now)
            }
            report.results += count
            report.add(try await removeContents(contents))
        }
        return report
    }

    /// - Returns: The number of removed results, and their contents.
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

    /// Examines the next results that were last used more than `mediaAgeSecondsMin` ago, and removes unneeded ones.
    func sweepResults(at now: Int64) async throws -> SweepReport {
        let until = now.subtracting(clamping: Int64(clamping: limits.mediaAgeSecondsMin * 1000))
        let position = sweepProgress.lastResult ?? ResultPosition(usedAt: .min, media: "")
        let (unneeded, last) = try await read { database in
            let seen = try database.rows(
                """
                SELECT result.used_at, result.media, \(ResultRemoval.retained.needs) FROM result
                WHERE result.used_at <= ?3 AND (result.used_at, result.media) > (?4, ?5) AND ?1 IS NULL
                ORDER BY result.used_at, result.media LIMIT \(Self.examinedCountMax)
                """, [nil, now, until, position.usedAt, position.media])
            let last = seen.count < Self.examinedCountMax ? nil : seen.last
            return (
                seen.filter { $0[2] == 0 }.map { $0[1] as String },
                last.map { ResultPosition(usedAt: $0[0], media: $0[1]) }
            )
        }
        sweepProgress.lastResult = last
        return try await dropResults(unneeded, .retained)
    }

    /// Removes the oldest results until the files are within the quota.
    func sweepOverQuota(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
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

    /// Removes results in order, only as many as necessary.
    private func dropToQuota(_ media: [String]) async throws -> SweepReport {
        var report = SweepReport()
        for one in media where try await mediaBytes() > limits.mediaQuotaBytes {
            report.add(try await dropResults([one], .overQuota))
        }
        return report
    }
}
