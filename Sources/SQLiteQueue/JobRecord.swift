import AttachPrep
package import AttachPrepJobs
import FoundationEssentials
import GRDB
import RichPush

/// A row of `job`; its JSON is decoded after it has left the database thread.
package struct JobRecord: Sendable {
    package static let columns = """
        uuid, state, request, result, error, attempts, created_at, started_at, finished_at, media, origin, worker
        """

    package var uuid: String
    package var state: String
    package var request: String
    package var result: String?
    package var error: String?
    package var attempts: Int
    package var createdAt: Int64
    package var startedAt: Int64?
    package var finishedAt: Int64?
    package var media: String?
    package var origin: String?
    package var worker: String?

    package init(
        uuid: String, state: String, request: String, result: String?, error: String?, attempts: Int, createdAt: Int64,
        startedAt: Int64?, finishedAt: Int64?, media: String?, origin: String?, worker: String?
    ) {
        (self.uuid, self.state, self.request, self.result, self.error) = (uuid, state, request, result, error)
        (self.attempts, self.createdAt, self.startedAt) = (attempts, createdAt, startedAt)
        (self.finishedAt, self.media, self.origin) = (finishedAt, media, origin)
        self.worker = worker
    }

    package init(_ row: StoredRow) {
        uuid = row[0]
        state = row[1]
        request = row[2]
        result = row[3]
        error = row[4]
        attempts = row[5]
        createdAt = row[6]
        startedAt = row[7]
        finishedAt = row[8]
        media = row[9]
        origin = row[10]
        worker = row[11]
    }

    /// - Throws: `queue.unavailable` for a row that cannot be decoded.
    package func job() throws -> Job {
        guard let id = JobID(uuid), let state = JobState(rawValue: state) else {
            throw StorageErrors.unreadable("a job")
        }
        var job = Job(
            id: id, state: state, request: try StoredJSON.request(request), attempts: attempts,
            createdAt: Date(milliseconds: createdAt))
        job.result = try result.map { try StoredJSON.value($0, "a manifest") }
        job.error = try error.map { try StoredJSON.value($0, "an error") }
        job.startedAt = startedAt.map { Date(milliseconds: $0) }
        job.finishedAt = finishedAt.map { Date(milliseconds: $0) }
        job.media = media.flatMap(MediaID.init)
        job.origin = try JobOrigin(stored: origin)
        job.worker = worker
        return job
    }
}

/// A row of a claimed job, with secrets and lease.
struct ClaimedRecord: Sendable {
    static let columns = "\(JobRecord.columns), secret, key, due_at, losses"
    static let columnsCount = 16

    var record: JobRecord
    var secret: String?
    var key: String
    var dueAt: Int64
    var losses: Int
    var token: Int64

    init(_ row: StoredRow, token: Int64) {
        record = JobRecord(row)
        secret = row[12]
        key = row[13]
        dueAt = row[14]
        losses = row[15]
        self.token = token
    }

    func claimed() throws -> ClaimedJob {
        try ClaimedJob(record.job(), secret: secret, key: key, token: token, dueAt: dueAt, losses: losses)
    }
}
