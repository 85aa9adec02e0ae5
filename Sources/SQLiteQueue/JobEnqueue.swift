import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import GRDB
import RichPush
import SafeArithmetic
import Synchronization

extension SQLiteStore {
    public func enqueue(
        _ submissions: [JobSubmission], idempotency: IdempotencyKey?
    ) async throws -> EnqueuedJobs {
        let date = clock.wall()
        let new = try await Self.encoded(submissions, at: date)
        let (limit, quota) = (limits.queuedJobsMax, quotaInForce(for: submissions.first?.origin.caller))
        let earlier = try await write { database, changes -> [JobRecord]? in
            if let idempotency, let earlier = try idempotency.jobs(database, at: date.milliseconds) { return earlier }
            try Self.checkCapacity(for: new.count, limit: limit, database)
            if let quota { try Self.checkQuota(quota, database) }
            for one in new { try one.insert(database) }
            try idempotency?.store(new.map(\.job.id), database, at: date.milliseconds)
            changes += new.map { JobFeed.Change(job: $0.job.id, state: .queued) }
            return nil
        }
        guard let earlier else { return EnqueuedJobs(jobs: new.map(\.job), areRepeated: false) }
        return EnqueuedJobs(jobs: try earlier.map { try $0.job() }, areRepeated: true)
    }

    /// Number of jobs encoded before yielding: a large batch takes half a second of processor time.
    private static let encodedCount = 100

    private static func encoded(_ submissions: [JobSubmission], at date: Date) async throws -> [NewJob] {
        var jobs: [NewJob] = []
        jobs.reserveCapacity(submissions.count)
        for submission in submissions {
            jobs.append(try NewJob(submission, at: date))
            if jobs.count % encodedCount == 0 { await Task.yield() }
        }
        return jobs
    }

    /// The quota, when the last sweep could not get below it and the caller's files are a reason; its new files are
    /// rejected then. Nil otherwise.
    func quotaInForce(for caller: String?) -> Int? {
        guard isFull else { return nil }
        let isReason = fullOwners.withLock { $0.isEmpty || $0.contains(caller ?? "") }
        return isReason ? limits.mediaQuotaBytes : nil
    }

    /// - Throws: `output.no_space` when files exceed the quota.
    static func checkQuota(_ quota: Int, _ database: Database) throws {
        let bytes = try database.number("SELECT number FROM tally WHERE name = 'mediaBytes'") ?? 0
        guard Int(clamping: bytes) > quota else { return }
        throw AttachPrepError(
            .outputNoSpace,
            "Stored files take \(bytes) bytes, over the quota of \(quota), and none of them can be removed yet; "
                + "try again later, or ask the service's operator to raise the quota.")
    }

    /// - Throws: `queue.full`.
    static func checkCapacity(for count: Int, limit: Int, _ database: Database) throws {
        let queued = try database.number("SELECT number FROM tally WHERE name = 'queued'") ?? 0
        guard Int(clamping: queued).adding(clamping: count) <= limit else {
            throw AttachPrepError.queueFull(Int(clamping: queued), limit: limit)
        }
    }
}

/// A submission as a database row, encoded before it reaches the writer thread.
struct NewJob: Sendable {
    let job: Job
    private let submission: JobSubmission
    private let request: String
    private let secret: String?
    private let origin: String?

    init(_ submission: JobSubmission, at date: Date) throws {
        self.submission = submission
        let shown = submission.request.shown
        request = try StoredJSON.text(shown)
        secret = try JobSecrets(submission.request).map { try StoredJSON.text($0) }
        origin = try submission.origin.stored()
        var job = Job(id: .make(at: date), state: .queued, request: shown, createdAt: date.wholeMilliseconds)
        job.origin = submission.origin
        self.job = job
    }

    func insert(_ database: Database) throws {
        let created = job.createdAt.milliseconds
        let jobOptions = submission.request.jobOptions
        let notBefore = jobOptions.notBefore.map(\.milliseconds)
        let waits = notBefore.map { $0 > created } ?? false
        try database.run(
            """
            INSERT INTO job (uuid, state, lane, caller_id, source, owner, host, key, upload, created_at, due_at,
                not_before, wait, request, secret, origin)
            VALUES (?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                job.id.text, jobOptions.priority.lane, job.request.id, job.request.source,
                submission.origin.caller ?? "", submission.hostGroup, submission.key.text,
                Upload.named(by: submission.request.source)?.text, created,
                waits ? notBefore : created, notBefore, (waits ? JobWait.notBefore : .none).rawValue, request, secret,
                origin,
            ])
    }
}

extension IdempotencyKey {
    /// Returns the jobs of an earlier submission with this key; nil when there was none in the last 24 hours.
    ///
    /// - Throws: `request.conflict` when it had a different body.
    func jobs(_ database: Database, at now: Int64) throws -> [JobRecord]? {
        let oldest = now - Int64(Limits.idempotencySecondsMax * 1000)
        let found = try database.row(
            "SELECT digest, jobs FROM idempotency WHERE caller = ? AND key = ? AND created_at > ?",
            [caller, key, oldest])
        guard let found else { return nil }
        let digest: String = found[0]
        guard digest == bodyDigest else { throw AttachPrepError.reusedIdempotencyKey }
        let ids: String = found[1]
        let jobs = try database.rows(
            """
            SELECT \(JobRecord.columns) FROM json_each(?) AS wanted JOIN job ON job.uuid = wanted.value
            ORDER BY wanted.key
            """, [ids])
        // All jobs were purged since then: treat the submission as new.
        return jobs.isEmpty && ids != "[]" ? nil : jobs.map(JobRecord.init)
    }

    func store(_ jobs: [JobID], _ database: Database, at now: Int64) throws {
        try database.run(
            "INSERT OR REPLACE INTO idempotency (caller, key, digest, created_at, jobs) VALUES (?, ?, ?, ?, ?)",
            [caller, key, bodyDigest, now, try StoredJSON.text(jobs)])
    }
}

extension IdempotencyKey {
    /// Deletes some of the expired keys.
    ///
    /// - Returns: The number of deleted keys.
    static func deleteExpired(_ database: Database, at now: Int64) throws -> Int {
        let oldest = now - Int64(Limits.idempotencySecondsMax * 1000)
        return try database.rows(
            """
            DELETE FROM idempotency WHERE (caller, key) IN (SELECT caller, key FROM idempotency
                WHERE created_at <= ? LIMIT \(SQLiteStore.removalCountMax)) RETURNING 1
            """, [oldest]
        ).count
    }
}
