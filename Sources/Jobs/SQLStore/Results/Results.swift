public import AttachPrep
public import AttachPrepJobs
public import AttachPrepModel
public import FoundationEssentials
import Glibc
import Logging
import MediaTypes
import SafeArithmetic

extension SQLJobStore: ResultStore {
    public func result(for key: WorkKey) async throws -> StoredResult? {
        try await read { [files] connection -> ResultRecord? in
            let row = try connection.row(
                """
                SELECT media, manifest, freshness, fetched_at FROM result WHERE key = $1
                ORDER BY fetched_at DESC LIMIT 1
                """, [.text(key.text)])
            guard let record = row.map(ResultRecord.init), let files else { return row.map(ResultRecord.init) }
            let contents = try connection.rows(
                "SELECT sha256 FROM result_file WHERE media = $1", [.text(record.media)])
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
        let new = try NewResult(result, contents, key)
        if let files {
            files.hold(contents.map(\.sha256))
            if let folder { try await files.moveIntoContent(contents, from: folder) }
        } else {
            precondition(folder == nil, "files of a store without a folder are published")
        }
        defer { files?.release(contents.map(\.sha256)) }
        try await write { try new.insert($0) }
        return result
    }

    public func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {
        let text = try StoredJSON.text(freshness)
        try await write { transaction in
            transaction.later(
                """
                UPDATE result SET freshness = $1, fresh_until = $2,
                    fetched_at = \(transaction.dialect.greatest("fetched_at", "$3")) WHERE media = $4
                """,
                [
                    .text(text), SQLValue(freshness.freshUntil?.milliseconds), .integer(fetchedAt.milliseconds),
                    .text(media.text),
                ])
        }
    }

    public func file(_ name: String, of media: MediaID) async throws -> StoredFile? {
        guard let files else { return nil }
        return try await read { connection in
            try connection.row(
                "SELECT mime_type, bytes, sha256 FROM result_file WHERE media = $1 AND name = $2",
                [.text(media.text), .text(name)]
            ).map {
                StoredFile(path: files.path($0[2]), name: name, mimeType: $0[0], bytes: $0[1], sha256: $0[2])
            }
        }
    }

    /// Total size of all result and upload files in bytes.
    public func mediaBytes() async throws -> Int {
        Int(clamping: try await read { try WriterCounts(stored: $0) }.mediaBytes)
    }
}

/// A row of `result`; its JSON is decoded after it has left the database thread.
struct ResultRecord: Sendable {
    var media: String
    var manifest: String
    var freshness: String?
    var fetchedAt: Int64

    init(_ row: SQLRow) {
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
    private let files: [ResultFile]

    init(_ result: StoredResult, _ files: [ResultFile], _ key: WorkKey) throws {
        media = result.media.text
        self.key = key.text
        manifest = try StoredJSON.text(result.manifest.withoutSecret)
        freshness = try result.freshness.map { try StoredJSON.text($0) }
        freshUntil = result.freshness?.freshUntil?.milliseconds
        fetchedAt = result.fetchedAt.milliseconds
        self.files = files
    }

    func insert(_ transaction: StoreTransaction) throws {
        transaction.later(
            """
            INSERT INTO result (media, key, manifest, freshness, fresh_until, fetched_at, used_at, bytes)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .text(media), .text(key), .text(manifest), SQLValue(freshness), SQLValue(freshUntil),
                .integer(fetchedAt), .integer(transaction.moment.wall),
                .integer(Int64(files.map(\.bytes).reduce(0, +))),
            ])
        for file in files {
            let isNew =
                try transaction.run(
                    "INSERT INTO content (sha256, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    [.text(file.sha256), .integer(Int64(file.bytes))]) > 0
            if isNew { transaction.added(mediaBytes: Int64(file.bytes)) }
            transaction.later(
                "INSERT INTO result_file (media, name, mime_type, bytes, sha256) VALUES ($1, $2, $3, $4, $5)",
                [
                    .text(media), .text(file.name), .text(file.mimeType), .integer(Int64(file.bytes)),
                    .text(file.sha256),
                ])
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

    /// The SQL condition that keeps a result; `$1` is the time.
    var needs: String {
        let work = "EXISTS (SELECT 1 FROM job WHERE job.key = result.key)"
        let jobs = "EXISTS (SELECT 1 FROM finished_job WHERE finished_job.media = result.media)"
        return switch self {
        case .purged: "(\(work) OR \(jobs))"
        case .retained: "(\(work) OR \(jobs) OR coalesce(result.fresh_until, 0) > $1)"
        case .overQuota:
            """
            (\(work) OR EXISTS (SELECT 1 FROM finished_job JOIN webhook ON webhook.job = finished_job.id
                WHERE finished_job.media = result.media AND webhook.state = 'pending'))
            """
        }
    }
}

extension SQLJobStore {
    /// Results examined per round: about 10 ms of reading.
    private static let examinedCountMax = 5_000
    /// Results selected per query while over the quota.
    private static let quotaStepCount = 100

    /// Removes those of the given results that nothing needs, and the files that only they used.
    func dropResults(_ media: [String], _ reason: ResultRemoval) async throws -> SweepReport {
        var report = SweepReport()
        for start in stride(from: 0, to: media.count, by: Self.removalCountMax) {
            let some = Array(media[start..<min(start + Self.removalCountMax, media.count)])
            let (count, contents) = try await write { try Self.removeResults(some, reason: reason, in: $0) }
            report.results += count
            report.add(try await removeContents(contents))
        }
        return report
    }

    /// - Returns: The number of removed results, and their contents.
    private static func removeResults(
        _ media: [String], reason: ResultRemoval, in transaction: StoreTransaction
    ) throws -> (Int, [String]) {
        let dialect = transaction.dialect
        let gone = try transaction.rows(
            """
            SELECT media FROM result WHERE \(dialect.isAmong("media", 2)) AND NOT \(reason.needs)
            """, [.integer(transaction.moment.wall), .texts(media)]
        ).map { $0[0] as String }
        guard !gone.isEmpty else { return (0, []) }
        let contents = try transaction.rows(
            "SELECT DISTINCT sha256 FROM result_file WHERE \(dialect.isAmong("media", 1))", [.texts(gone)])
        transaction.later(
            "UPDATE finished_job SET media = NULL WHERE \(dialect.isAmong("media", 1))", [.texts(gone)])
        transaction.later("DELETE FROM result_file WHERE \(dialect.isAmong("media", 1))", [.texts(gone)])
        transaction.later("DELETE FROM result WHERE \(dialect.isAmong("media", 1))", [.texts(gone)])
        return (gone.count, contents.map { $0[0] })
    }

    /// Examines the next results that were last used more than `mediaAgeSecondsMin` ago, and removes unneeded ones.
    func sweepResults(at now: Int64) async throws -> SweepReport {
        let until = now.subtracting(clamping: Int64(clamping: limits.mediaAgeSecondsMin * 1000))
        let position = sweepProgress.lastResult ?? ResultPosition(usedAt: .min, media: "")
        let (unneeded, last) = try await read { connection in
            let seen = try connection.rows(
                """
                SELECT result.used_at, result.media, CASE WHEN \(ResultRemoval.retained.needs) THEN 1 ELSE 0 END
                FROM result WHERE result.used_at <= $2 AND (result.used_at, result.media) > ($3, $4)
                ORDER BY result.used_at, result.media LIMIT \(Self.examinedCountMax)
                """, [.integer(now), .integer(until), .integer(position.usedAt), .text(position.media)])
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
            let oldest = try await read { connection in
                try connection.rows(
                    """
                    SELECT result.media FROM result WHERE result.used_at <= $1 AND result.bytes > 0
                    AND NOT \(ResultRemoval.overQuota.needs)
                    ORDER BY result.used_at LIMIT \(Self.quotaStepCount)
                    """, [.integer(until)]
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
