import AttachPrep
import GRDB
import NATS
import RichPush

/// A key of the bucket as the tables have it.
enum MirrorRow {
    /// Whether nothing later was heard of it.
    static func isNew(_ id: String, _ revision: UInt64, _ database: Database) throws -> Bool {
        let known = try database.number("SELECT revision FROM kept WHERE uuid = ?", [id])
        return known.map { $0 < Int64(revision) } ?? true
    }

    static func remove(_ id: String, _ revision: UInt64, _ heardAt: Int64, _ database: Database) throws {
        try database.run(
            "INSERT OR REPLACE INTO kept (uuid, revision, heard_at) VALUES (?, ?, ?)", [id, Int64(revision), heardAt])
        try database.run("DELETE FROM job WHERE uuid = ?", [id])
    }

    /// - Parameter hold: how long its webhooks are left to others.
    /// - Returns: what others are told; nil when it was known, or is no job yet.
    static func take(
        _ job: KnownJob, bytes: [UInt8]?, _ hold: WebhookHold, _ database: Database
    ) throws -> JobFeed.Change? {
        guard try keep(job, bytes ?? job.bytes ?? job.value.bytes(), database) else {
            try claimKnown(job, hold, database)
            return nil
        }
        guard try isWhole(job.value.batch, database) else { return nil }
        guard let notices = job.value.notices else { return try show(job.value, database) }
        let hadEnded = try hasEnded(job.value, database)
        let change = try show(job.value, database)
        for notice in notices { try WebhookRow.show(notice, of: job.value.id, hold, database) }
        return hadEnded ? nil : change
    }

    /// - Returns: false when something later was heard of it, or this.
    private static func keep(_ job: KnownJob, _ value: [UInt8], _ database: Database) throws -> Bool {
        try database.run(
            """
            INSERT INTO kept (uuid, revision, heard_at, batch, begun, value) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (uuid) DO UPDATE SET revision = excluded.revision, heard_at = excluded.heard_at,
                batch = excluded.batch, begun = excluded.begun, value = excluded.value
            WHERE kept.revision < excluded.revision
            """,
            [
                job.value.id, Int64(job.revision), job.heardAt, job.value.batch, try begun(job, database),
                String(decoding: value, as: UTF8.self),
            ])
        return database.changesCount > 0
    }

    private static func begun(_ job: KnownJob, _ database: Database) throws -> Int64? {
        guard job.value.state == .running else { return nil }
        let known = try database.number(
            """
            SELECT kept.begun FROM job JOIN kept ON kept.uuid = job.uuid
            WHERE job.uuid = ? AND job.state = 'running' AND job.token = ?
            """, [job.value.id, job.value.token])
        return known ?? Int64(job.revision)
    }

    /// Our own change may be heard of before its answer is: what is to be told of it is ours all the same.
    private static func claimKnown(_ job: KnownJob, _ hold: WebhookHold, _ database: Database) throws {
        guard hold.freeAt == nil, let notices = job.value.notices,
            try database.number(
                "SELECT 1 FROM kept WHERE uuid = ? AND revision = ?", [job.value.id, Int64(job.revision)]) != nil
        else { return }
        for notice in notices { try WebhookRow.show(notice, of: job.value.id, hold, database) }
    }

    /// Whether this end of the job is known: then what is new is only what became of its webhooks.
    private static func hasEnded(_ job: KeptJob, _ database: Database) throws -> Bool {
        guard let finishedAt = job.finishedAt else { return false }
        return try database.number(
            "SELECT 1 FROM job WHERE uuid = ? AND state = ? AND finished_at = ?",
            [job.id, job.state.rawValue, finishedAt]) != nil
    }

    private static func isWhole(_ batch: String?, _ database: Database) throws -> Bool {
        guard let batch else { return true }
        return try database.number("SELECT 1 FROM batch WHERE id = ?", [batch]) != nil
    }

    /// A batch is whole: its jobs are jobs.
    static func complete(_ batch: String, at moment: StoreMoment, _ database: Database) throws -> [JobFeed.Change] {
        try database.run("INSERT OR IGNORE INTO batch (id, heard_at) VALUES (?, ?)", [batch, moment.steady])
        let rows = try database.rows("SELECT value FROM kept WHERE batch = ? AND value IS NOT NULL", [batch])
        return try rows.compactMap { row in
            let text: String = row[0]
            return try show(KeptJob(Array(text.utf8)), database)
        }
    }

    static func forget(batch: String, _ database: Database) throws {
        try database.run("DELETE FROM batch WHERE id = ?", [batch])
    }

    /// - Parameter word: nil when it was removed.
    static func take(_ word: KeptWord?, key: String, revision: UInt64, _ database: Database) throws {
        guard let word else { return try database.run("DELETE FROM word WHERE key = ?", [key]) }
        try database.run(
            "INSERT OR REPLACE INTO word (key, revision, created_at) VALUES (?, ?, ?)",
            [key, Int64(revision), word.createdAt])
    }

    private static func show(_ job: KeptJob, _ database: Database) throws -> JobFeed.Change? {
        if try !update(job, database) { try insert(job, database) }
        return JobID(job.id).map { JobFeed.Change(job: $0, state: job.state) }
    }

    /// - Returns: false when there is no such row.
    private static func update(_ job: KeptJob, _ database: Database) throws -> Bool {
        try database.run(
            """
            UPDATE job SET state = ?2, error_code = ?3, attempts = ?4, losses = ?5, started_at = ?6, finished_at = ?7,
                due_at = ?8, wait = ?9, token = ?10, worker = ?11, cancelling = ?12, media = ?13, result = ?14,
                error = ?15
            WHERE uuid = ?1
            """,
            [
                job.id, job.state.rawValue, job.errorCode, job.attempts, job.losses, job.startedAt, job.finishedAt,
                job.dueAt, job.wait, job.token, job.worker, job.isCancelling, job.media, job.result, job.error,
            ])
        return database.changesCount > 0
    }

    private static func insert(_ job: KeptJob, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO job (uuid, state, lane, caller_id, source, error_code, host, key, upload, attempts, losses,
                created_at, started_at, finished_at, due_at, not_before, wait, token, worker, cancelling, media,
                request, result, error)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                job.id, job.state.rawValue, job.lane, job.caller, job.source, job.errorCode, job.host, job.key,
                job.upload, job.attempts, job.losses, job.createdAt, job.startedAt, job.finishedAt, job.dueAt,
                job.notBefore, job.wait, job.token, job.worker, job.isCancelling, job.media, job.request, job.result,
                job.error,
            ])
    }
}
