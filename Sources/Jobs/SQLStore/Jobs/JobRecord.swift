import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes

/// A job as a row; its JSON is decoded after it has left the database's thread.
struct JobRecord: Sendable {
    /// The columns of a row of `job`.
    static let liveColumns = """
        id, state, request, CAST(NULL AS text), error, attempts, created_at, started_at, CAST(NULL AS bigint), \
        CAST(NULL AS text), origin, worker, due_at
        """
    /// The columns of a row of `finished_job`.
    static let finishedColumns = """
        id, state, request, result, error, attempts, created_at, started_at, finished_at, media, origin, worker, \
        CAST(NULL AS bigint)
        """

    let id: String
    private let row: SQLRow

    init(_ row: SQLRow) {
        id = row[0]
        self.row = row
    }

    /// - Throws: `queue.unavailable` for a row that cannot be decoded.
    func job() throws -> Job {
        guard let id = JobID(id), let state = JobState(rawValue: row[1]) else {
            throw StorageErrors.unreadable("a job")
        }
        var job = Job(
            id: id, state: state, request: try StoredJSON.request(row[2]), attempts: row[5],
            createdAt: Date(milliseconds: row[6]))
        job.result = try (row[3] as String?).map { try StoredJSON.value($0, "a manifest") }
        job.error = try (row[4] as String?).map { try StoredJSON.value($0, "an error") }
        job.startedAt = (row[7] as Int64?).map { Date(milliseconds: $0) }
        job.finishedAt = (row[8] as Int64?).map { Date(milliseconds: $0) }
        job.media = (row[9] as String?).flatMap(MediaID.init)
        job.origin = try JobOrigin(stored: row[10])
        job.worker = row[11]
        if state == .queued { job.dueAt = (row[12] as Int64?).map { Date(milliseconds: $0) } }
        return job
    }

    /// Returns a job; nil when there is none with this id.
    static func find(_ id: JobID, _ connection: any SQLConnection) throws -> JobRecord? {
        // One statement, because a job may move between the tables.
        try connection.row(
            """
            SELECT \(liveColumns) FROM job WHERE id = $1
            UNION ALL SELECT \(finishedColumns) FROM finished_job WHERE id = $1
            """, [.text(id.text)]
        ).map(JobRecord.init)
    }
}

/// A row of `job` with its secrets and what a claim needs.
struct ClaimedRow: Sendable {
    static let columns = "\(JobRecord.liveColumns), secret, key, losses, token, waits_since"
    static let columnsCount = 18
    static let lossesIndex = 15

    let record: JobRecord
    private let values: SQLRow

    init(_ values: SQLRow) {
        record = JobRecord(values)
        self.values = values
    }

    var dueAt: Int64 { values[12] }
    /// The stored secrets.
    var secret: String? { values[13] }
    /// Nil for a job that is not running.
    var lease: JobLease? {
        guard let id = JobID(record.id), let token = values[16] as Int64? else { return nil }
        return JobLease(job: id, token: token)
    }

    /// - Throws: `queue.unavailable` for a row that cannot be decoded or opened.
    func claimed(_ secrets: SecretStorage) throws -> ClaimedJob {
        try ClaimedJob(
            record.job(), secret: secret.map { try secrets.opened($0, for: record.id) }, key: values[14],
            token: (values[16] as Int64?) ?? 0, dueAt: dueAt, losses: values[15], waitsSince: values[17])
    }
}

extension JobFeed.Change {
    /// From a row `id, state`.
    init?(_ row: SQLRow) {
        guard let job = JobID(row[0]), let state = JobState(rawValue: row[1]) else { return nil }
        self.init(job: job, state: state)
    }
}
