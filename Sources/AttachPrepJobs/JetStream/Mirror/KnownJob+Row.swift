import GRDB
import RichPush
import SafeArithmetic

/// A job that was heard of, as the tables have it.
extension KnownJob {
    static let columns = """
        job.uuid, job.state, job.batch, job.lane, job.host, job.key, job.upload, job.caller_id, job.source,
        job.request, job.secret, job.attempts, job.losses, job.created_at, job.started_at, job.finished_at, job.due_at,
        job.not_before, job.wait, job.token, job.worker, job.cancelling, job.result, job.error, job.error_code,
        job.media, job.notices, job.revision, job.heard_at, job.crashes, job.lost_by, job.origin
        """

    /// Of these columns.
    ///
    /// - Throws: `queue.unavailable` for a row that none of our versions wrote.
    init(_ row: StoredRow) throws {
        guard let state = JobState(rawValue: row[1]) else { throw StoreFault.unreadable("a job") }
        let notices: String? = row[26]
        let revision: Int64 = row[27]
        self.init(
            value: KeptJob(
                id: row[0], state: state, batch: row[2], lane: row[3], host: row[4], key: row[5], upload: row[6],
                caller: row[7], source: row[8], request: row[9], origin: row[31], secret: row[10], attempts: row[11],
                losses: row[12],
                crashes: row[29] == 0 ? nil : row[29], lostBy: row[30],
                createdAt: row[13], startedAt: row[14], finishedAt: row[15], dueAt: row[16], notBefore: row[17],
                wait: row[18], token: row[19], worker: row[20], isCancelling: row[21], result: row[22], error: row[23],
                errorCode: row[24], media: row[25],
                notices: try notices.map { try StoredJSON.value($0, "a job's webhooks") }),
            revision: UInt64(clamping: revision), heardAt: row[28])
    }

    /// Jobs that a statement chooses.
    ///
    /// - Parameter rest: what follows the columns, from `FROM` on.
    static func all(_ rest: String, _ arguments: StatementArguments, _ database: Database) throws -> [KnownJob] {
        let statement = try database.cachedStatement(sql: "SELECT \(columns) \(rest)")
        return try Array(Row.fetchCursor(statement, arguments: arguments).map { try KnownJob(StoredRow($0)) })
    }

    /// Whether nothing has become of it yet.
    var isUntouched: Bool { value.state == .queued && value.attempts == 0 }

    /// Changes the row of a job of which nothing later was heard.
    ///
    /// - Returns: false when there is no such row.
    func update(_ database: Database) throws -> Bool {
        try database.run(
            """
            UPDATE job SET state = ?2, error_code = ?3, attempts = ?4, losses = ?5, started_at = ?6, finished_at = ?7,
                due_at = ?8, wait = ?9, token = ?10, worker = ?11, cancelling = ?12, media = ?13, result = ?14,
                error = ?15, secret = ?16, notices = ?17, batch = ?18, revision = ?19, heard_at = ?20,
                crashes = ?21, lost_by = ?22,
                begun = CASE WHEN ?2 <> 'running' THEN NULL
                    WHEN state = 'running' AND token = ?10 THEN begun ELSE ?19 END
            WHERE uuid = ?1 AND revision < ?19
            """,
            [
                value.id, value.state.rawValue, value.errorCode, value.attempts, value.losses, value.startedAt,
                value.finishedAt, value.dueAt, value.wait, value.token, value.worker, value.isCancelling, value.media,
                value.result, value.error, value.secret, try writtenNotices(), value.batch, Int64(clamping: revision),
                heardAt,
                value.crashes ?? 0, value.lostBy,
            ])
        return database.changesCount > 0
    }

    /// Adds the row of a job that has none.
    ///
    /// - Returns: false when it has one, or was removed later.
    func insert(_ database: Database) throws -> Bool {
        try database.run(
            """
            INSERT INTO job (uuid, state, lane, caller_id, source, error_code, host, key, upload, attempts, losses,
                created_at, started_at, finished_at, due_at, not_before, wait, token, worker, cancelling, media,
                request, secret, result, error, notices, batch, revision, heard_at, begun, crashes, lost_by,
                origin)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                ?23, ?24, ?25, ?26, ?27, ?28, ?29, iif(?2 = 'running', ?28, NULL), ?30, ?31, ?32
            WHERE NOT EXISTS (SELECT 1 FROM removed WHERE uuid = ?1 AND revision > ?28)
            ON CONFLICT (uuid) DO NOTHING
            """,
            [
                value.id, value.state.rawValue, value.lane, value.caller, value.source, value.errorCode, value.host,
                value.key, value.upload, value.attempts, value.losses, value.createdAt, value.startedAt,
                value.finishedAt, value.dueAt, value.notBefore, value.wait, value.token, value.worker,
                value.isCancelling, value.media, value.request, value.secret, value.result, value.error,
                try writtenNotices(), value.batch, Int64(clamping: revision), heardAt, value.crashes ?? 0, value.lostBy,
                value.origin,
            ])
        return database.changesCount > 0
    }

    private func writtenNotices() throws -> String? {
        try value.notices.map { try StoredJSON.text($0) }
    }
}
