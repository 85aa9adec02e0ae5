import AttachPrep
import GRDB
import NATS
import RichPush
import SafeArithmetic

/// A key of the bucket as the tables have it.
enum MirrorRow {
    /// Whether nothing later was heard of it, nor this.
    static func isNew(_ id: String, _ revision: UInt64, _ database: Database) throws -> Bool {
        let known = ["job", "removed", "draft"].map { "SELECT 1 FROM \($0) WHERE uuid = ?1 AND revision >= ?2" }
        return try database.number(known.joined(separator: " UNION ALL "), [id, Int64(clamping: revision)]) == nil
    }

    static func remove(_ id: String, _ revision: UInt64, _ heardAt: Int64, _ database: Database) throws {
        try database.run(
            "INSERT OR REPLACE INTO removed (uuid, revision, heard_at) VALUES (?, ?, ?)",
            [id, Int64(clamping: revision), heardAt])
        try forget(id, database)
    }

    static func forget(_ id: String, _ database: Database) throws {
        try database.run("DELETE FROM job WHERE uuid = ?", [id])
        try database.run("DELETE FROM draft WHERE uuid = ?", [id])
    }

    /// - Parameter hold: how long its webhooks are left to others.
    /// - Returns: what others are told; nil when it was known, or is no job yet.
    static func take(_ job: KnownJob, _ hold: WebhookHold, _ database: Database) throws -> JobFeed.Change? {
        let hadEnded = try job.value.notices != nil && hasEnded(job.value, database)
        guard try show(job, database) else { return nil }
        for notice in job.value.notices ?? [] { try WebhookRow.show(notice, of: job.value.id, hold, database) }
        return hadEnded ? nil : change(job)
    }

    /// - Returns: false when something later was heard of it, or this, or its batch is not whole.
    private static func show(_ job: KnownJob, _ database: Database) throws -> Bool {
        // A new job has no row, all others have one: what is likely is tried first.
        if job.isUntouched, job.value.batch == nil, try job.insert(database) { return true }
        if try job.update(database) { return true }
        if let batch = job.value.batch, try !isWhole(batch, database) {
            try draft(job, of: batch, database)
            return false
        }
        return try job.insert(database)
    }

    private static func change(_ job: KnownJob) -> JobFeed.Change? {
        JobID(job.value.id).map { JobFeed.Change(job: $0, state: job.value.state) }
    }

    /// Whether this end of the job is known: then what is new is only what became of its webhooks.
    private static func hasEnded(_ job: KeptJob, _ database: Database) throws -> Bool {
        guard let finishedAt = job.finishedAt else { return false }
        return try database.number(
            "SELECT 1 FROM job WHERE uuid = ? AND state = ? AND finished_at = ?",
            [job.id, job.state.rawValue, finishedAt]) != nil
    }

    // MARK: Batches

    private static func isWhole(_ batch: String, _ database: Database) throws -> Bool {
        try database.number("SELECT 1 FROM batch WHERE id = ?", [batch]) != nil
    }

    private static func draft(_ job: KnownJob, of batch: String, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO draft (uuid, batch, revision, heard_at, value) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (uuid) DO UPDATE SET revision = excluded.revision, heard_at = excluded.heard_at,
                value = excluded.value
            WHERE draft.revision < excluded.revision
            """,
            [
                job.value.id, batch, Int64(clamping: job.revision), job.heardAt,
                String(decoding: try job.value.bytes(), as: UTF8.self),
            ])
    }

    /// A batch is whole: its jobs are jobs.
    static func complete(
        _ batch: String, at moment: StoreMoment, _ database: Database, _ read: (String, [UInt8]) throws -> KeptJob
    ) throws -> [JobFeed.Change] {
        try database.run("INSERT OR IGNORE INTO batch (id, heard_at) VALUES (?, ?)", [batch, moment.steady])
        let drafts = try drafts("batch = ?", [batch], database, read)
        guard !drafts.isEmpty else { return [] }
        try database.run("DELETE FROM draft WHERE batch = ?", [batch])
        return try drafts.filter { try $0.insert(database) }.compactMap(change)
    }

    static func drafts(
        _ condition: String, _ arguments: StatementArguments, _ database: Database,
        _ read: (String, [UInt8]) throws -> KeptJob = { try KeptJob($1) }
    ) throws -> [KnownJob] {
        let rows = try database.rows(
            "SELECT uuid, revision, heard_at, value FROM draft WHERE \(condition)", arguments)
        return try rows.map { row in
            let (revision, text): (Int64, String) = (row[1], row[3])
            return KnownJob(
                value: try read(row[0], Array(text.utf8)), revision: UInt64(clamping: revision), heardAt: row[2])
        }
    }

    static func forget(batch: String, _ database: Database) throws {
        try database.run("DELETE FROM batch WHERE id = ?", [batch])
    }

    // MARK: Callers' words

    /// - Parameter word: nil when it was removed.
    static func take(_ word: KeptWord?, key: String, revision: UInt64, _ database: Database) throws {
        guard let word else { return try database.run("DELETE FROM word WHERE key = ?", [key]) }
        try database.run(
            "INSERT OR REPLACE INTO word (key, revision, created_at) VALUES (?, ?, ?)",
            [key, Int64(clamping: revision), word.createdAt])
    }
}
