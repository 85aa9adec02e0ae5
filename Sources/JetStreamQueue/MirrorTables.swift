import AttachPrep
import AttachPrepJobs
import GRDB
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic

/// Writes records of the bucket to the read model's tables.
enum MirrorTables {
    /// Whether the read model has neither this revision of the job nor a later one.
    static func isNew(_ id: String, _ revision: UInt64, _ database: Database) throws -> Bool {
        let known = ["job", "removed", "draft"].map { "SELECT 1 FROM \($0) WHERE uuid = ?1 AND revision >= ?2" }
        return try database.number(known.joined(separator: " UNION ALL "), [id, Int64(clamping: revision)]) == nil
    }

    static func remove(_ id: String, _ revision: UInt64, _ receivedAt: Int64, _ database: Database) throws {
        try database.run(
            "INSERT OR REPLACE INTO removed (uuid, revision, received_at) VALUES (?, ?, ?)",
            [id, Int64(clamping: revision), receivedAt])
        try delete(id, database)
    }

    static func delete(_ id: String, _ database: Database) throws {
        try database.run("DELETE FROM job WHERE uuid = ?", [id])
        try database.run("DELETE FROM draft WHERE uuid = ?", [id])
    }

    /// Stores a version of a job and its webhooks.
    ///
    /// - Parameter hold: how long this machine must not claim its webhooks.
    /// - Returns: The change for the feed; nil when the version was known or its batch is incomplete.
    static func apply(_ job: VersionedJob, _ hold: WebhookLeaseTimes, _ database: Database) throws -> JobFeed.Change? {
        let hadEnded = try job.value.notices != nil && hasEnded(job.value, database)
        guard try upsert(job, database) else { return nil }
        for notice in job.value.notices ?? [] {
            try MirroredWebhookTable.upsert(notice, of: job.value.id, hold, database)
        }
        return hadEnded ? nil : change(job)
    }

    /// - Returns: False when this or a later version is stored, or its batch is incomplete.
    private static func upsert(_ job: VersionedJob, _ database: Database) throws -> Bool {
        // Tries the likely statement first: only a new job has no row.
        if job.isUntouched, job.value.batch == nil, try job.insert(database) { return true }
        if try job.update(database) { return true }
        if let batch = job.value.batch, try !isWhole(batch, database) {
            try draft(job, of: batch, database)
            return false
        }
        return try job.insert(database)
    }

    private static func change(_ job: VersionedJob) -> JobFeed.Change? {
        JobID(job.value.id).map { JobFeed.Change(job: $0, state: job.value.state) }
    }

    /// Whether this end of the job is stored, so that only its webhooks have changed.
    private static func hasEnded(_ job: StoredJob, _ database: Database) throws -> Bool {
        guard let finishedAt = job.finishedAt else { return false }
        return try database.number(
            "SELECT 1 FROM job WHERE uuid = ? AND state = ? AND finished_at = ?",
            [job.id, job.state.rawValue, finishedAt]) != nil
    }

    // MARK: Batches

    private static func isWhole(_ batch: String, _ database: Database) throws -> Bool {
        try database.number("SELECT 1 FROM batch WHERE id = ?", [batch]) != nil
    }

    private static func draft(_ job: VersionedJob, of batch: String, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO draft (uuid, batch, revision, received_at, value) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (uuid) DO UPDATE SET revision = excluded.revision, received_at = excluded.received_at,
                value = excluded.value
            WHERE draft.revision < excluded.revision
            """,
            [
                job.value.id, batch, Int64(clamping: job.revision), job.receivedAt,
                String(decoding: try job.value.bytes(), as: UTF8.self),
            ])
    }

    /// Records that a batch is complete and turns its drafts into jobs.
    static func complete(
        _ batch: String, at moment: StoreMoment, _ database: Database, _ read: (String, [UInt8]) throws -> StoredJob
    ) throws -> [JobFeed.Change] {
        try database.run("INSERT OR IGNORE INTO batch (id, received_at) VALUES (?, ?)", [batch, moment.steady])
        let drafts = try drafts("batch = ?", [batch], database, read)
        guard !drafts.isEmpty else { return [] }
        try database.run("DELETE FROM draft WHERE batch = ?", [batch])
        return try drafts.filter { try $0.insert(database) }.compactMap(change)
    }

    static func drafts(
        _ condition: String, _ arguments: StatementArguments, _ database: Database,
        _ read: (String, [UInt8]) throws -> StoredJob = { try StoredJob($1) }
    ) throws -> [VersionedJob] {
        let rows = try database.rows(
            "SELECT uuid, revision, received_at, value FROM draft WHERE \(condition)", arguments)
        return try rows.map { row in
            let (revision, text): (Int64, String) = (row[1], row[3])
            return VersionedJob(
                value: try read(row[0], Array(text.utf8)), revision: UInt64(clamping: revision), receivedAt: row[2])
        }
    }

    static func delete(batch: String, _ database: Database) throws {
        try database.run("DELETE FROM batch WHERE id = ?", [batch])
    }

    // MARK: Idempotency keys

    /// Stores or removes the record of an idempotency key.
    ///
    /// - Parameter idempotencyRecord: nil when it was removed.
    static func apply(_ idempotencyRecord: StoredIdempotencyKey?, key: String, revision: UInt64, _ database: Database)
        throws
    {
        guard let idempotencyRecord else { return try database.run("DELETE FROM keys WHERE key = ?", [key]) }
        try database.run(
            "INSERT OR REPLACE INTO keys (key, revision, created_at) VALUES (?, ?, ?)",
            [key, Int64(clamping: revision), idempotencyRecord.createdAt])
    }
}

/// A job in the table `job`.
extension VersionedJob {
    static let columns = """
        job.uuid, job.state, job.batch, job.lane, job.host, job.key, job.upload, job.caller_id, job.source,
        job.request, job.secret, job.attempts, job.losses, job.created_at, job.started_at, job.finished_at, job.due_at,
        job.not_before, job.wait, job.token, job.worker, job.cancelling, job.result, job.error, job.error_code,
        job.media, job.notices, job.revision, job.received_at, job.origin, job.back_off
        """

    /// Reads a row with these columns.
    ///
    /// - Throws: `queue.unavailable` for a row that no version of attachprep wrote.
    init(_ row: StoredRow) throws {
        guard let state = JobState(rawValue: row[1]) else { throw StorageErrors.unreadable("a job") }
        let notices: String? = row[26]
        let revision: Int64 = row[27]
        self.init(
            value: StoredJob(
                id: row[0], state: state, batch: row[2], lane: row[3], host: row[4], key: row[5], upload: row[6],
                caller: row[7], source: row[8], request: row[9], origin: row[29], secret: row[10], attempts: row[11],
                losses: row[12], createdAt: row[13], startedAt: row[14], finishedAt: row[15], dueAt: row[16],
                notBefore: row[17],
                wait: row[18], backOff: row[30], token: row[19], worker: row[20], isCancelling: row[21],
                result: row[22], error: row[23], errorCode: row[24], media: row[25],
                notices: try notices.map { try StoredJSON.value($0, "a job's webhooks") }),
            revision: UInt64(clamping: revision), receivedAt: row[28])
    }

    /// The jobs of a query.
    ///
    /// - Parameter rest: the statement after the columns, from `FROM` on.
    static func all(_ rest: String, _ arguments: StatementArguments, _ database: Database) throws -> [VersionedJob] {
        let statement = try database.cachedStatement(sql: "SELECT \(columns) \(rest)")
        return try Array(Row.fetchCursor(statement, arguments: arguments).map { try VersionedJob(StoredRow($0)) })
    }

    /// Whether it was never claimed.
    var isUntouched: Bool { value.state == .queued && value.attempts == 0 }

    /// Updates the job's row if that has an earlier revision.
    ///
    /// - Returns: False when there is no such row.
    func update(_ database: Database) throws -> Bool {
        try database.run(
            """
            UPDATE job SET state = ?2, error_code = ?3, attempts = ?4, losses = ?5, started_at = ?6, finished_at = ?7,
                due_at = ?8, wait = ?9, token = ?10, worker = ?11, cancelling = ?12, media = ?13, result = ?14,
                error = ?15, secret = ?16, notices = ?17, batch = ?18, revision = ?19, received_at = ?20,
                back_off = ?21,
                run_revision = CASE WHEN ?2 <> 'running' THEN NULL
                    WHEN state = 'running' AND token = ?10 THEN run_revision ELSE ?19 END
            WHERE uuid = ?1 AND revision < ?19
            """,
            [
                value.id, value.state.rawValue, value.errorCode, value.attempts, value.losses, value.startedAt,
                value.finishedAt, value.dueAt, value.wait, value.token, value.worker, value.isCancelling, value.media,
                value.result, value.error, value.secret, try writtenNotices(), value.batch, Int64(clamping: revision),
                receivedAt, value.backOff,
            ])
        return database.changesCount > 0
    }

    /// Inserts a row for the job.
    ///
    /// - Returns: False when it has one, or was removed later.
    func insert(_ database: Database) throws -> Bool {
        try database.run(
            """
            INSERT INTO job (uuid, state, lane, caller_id, source, error_code, host, key, upload, attempts, losses,
                created_at, started_at, finished_at, due_at, not_before, wait, token, worker, cancelling, media,
                request, secret, result, error, notices, batch, revision, received_at, run_revision, origin,
                back_off)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                ?23, ?24, ?25, ?26, ?27, ?28, ?29, iif(?2 = 'running', ?28, NULL), ?30, ?31
            WHERE NOT EXISTS (SELECT 1 FROM removed WHERE uuid = ?1 AND revision > ?28)
            ON CONFLICT (uuid) DO NOTHING
            """,
            [
                value.id, value.state.rawValue, value.lane, value.caller, value.source, value.errorCode, value.host,
                value.key, value.upload, value.attempts, value.losses, value.createdAt, value.startedAt,
                value.finishedAt, value.dueAt, value.notBefore, value.wait, value.token, value.worker,
                value.isCancelling, value.media, value.request, value.secret, value.result, value.error,
                try writtenNotices(), value.batch, Int64(clamping: revision), receivedAt, value.origin,
                value.backOff,
            ])
        return database.changesCount > 0
    }

    private func writtenNotices() throws -> String? {
        try value.notices.map { try StoredJSON.text($0) }
    }
}

/// The tables of the read model: the job tables of the SQLite driver with additional columns and tables.
enum MirrorSchema {
    /// Columns of `job`: `revision` and `received_at` are those of the last received change, by the steady clock;
    /// `run_revision` is the revision with which its current run began (NULL while it is not running),
    /// and `notices` is JSON.
    ///
    /// `draft` holds jobs of incomplete batches, `removed` the IDs of removed jobs, so that late changes do not restore
    /// them, `batch` complete batches, and `keys` callers' idempotency keys.
    ///
    /// The indexes of the SQLite driver for leases, hosts, media and work keys are dropped: this driver claims by
    /// messages and stores results elsewhere, and unused indexes slow each change.
    static let tables = """
        ALTER TABLE job ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE job ADD COLUMN received_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE job ADD COLUMN batch TEXT;
        ALTER TABLE job ADD COLUMN run_revision INTEGER;
        ALTER TABLE job ADD COLUMN notices TEXT;
        ALTER TABLE job ADD COLUMN back_off INTEGER;
        DROP INDEX job_running_host;
        DROP INDEX job_lease;
        DROP INDEX job_media;
        DROP INDEX job_alive_key;
        CREATE INDEX job_running_key ON job (key) WHERE state = 'running';
        CREATE INDEX job_batch ON job (batch) WHERE batch IS NOT NULL;
        CREATE TABLE draft (
            uuid TEXT PRIMARY KEY, batch TEXT NOT NULL, revision INTEGER NOT NULL, received_at INTEGER NOT NULL,
            value TEXT NOT NULL
        );
        CREATE INDEX draft_batch ON draft (batch);
        CREATE TABLE removed (
            uuid TEXT PRIMARY KEY, revision INTEGER NOT NULL, received_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX removed_age ON removed (received_at);
        CREATE TABLE batch (id TEXT PRIMARY KEY, received_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE keys (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX keys_age ON keys (created_at);
        """

    /// The tables to empty before a watch from the beginning.
    static let names = ["job", "draft", "removed", "batch", "keys"]
}
