import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes
import SafeArithmetic
import Synchronization

extension SQLJobStore: JobQueue {
    public func enqueue(
        _ submissions: [JobSubmission], idempotency: IdempotencyKey?
    ) async throws -> EnqueuedJobs {
        let new = try await encoded(submissions)
        let (limit, quota) = (limits.queuedJobsMax, quotaInForce(for: submissions.first?.origin.caller))
        let (earlier, now) = try await write { transaction -> ([JobRecord]?, Int64) in
            let now = transaction.moment.wall
            if let idempotency, let earlier = try idempotency.jobs(transaction) {
                transaction.confirm()
                return (earlier, now)
            }
            try Self.checkCapacity(for: new.count, limit: limit, transaction)
            if let quota { try Self.checkQuota(quota, transaction) }
            if let idempotency, try !idempotency.store(new.map(\.id), transaction) {
                // Another process has used the key since the query above.
                transaction.confirm()
                return (try idempotency.jobs(transaction) ?? [], now)
            }
            for one in new { one.insert(transaction, at: now) }
            transaction.moved(new.count, from: nil, to: .queued)
            transaction.changes += new.map { JobFeed.Change(job: $0.id, state: .queued) }
            return (nil, now)
        }
        guard let earlier else {
            return EnqueuedJobs(jobs: new.map { $0.job(createdAt: Date(milliseconds: now)) }, areRepeated: false)
        }
        return EnqueuedJobs(jobs: try earlier.map { try $0.job() }, areRepeated: true)
    }

    /// Number of jobs encoded before yielding: a large batch takes half a second of processor time.
    private static let encodedCount = 100

    private func encoded(_ submissions: [JobSubmission]) async throws -> [NewJob] {
        // Jobs of one batch run in order.
        let ids = submissions.map { _ in JobID.make(at: clock.wall()) }.sorted()
        var jobs: [NewJob] = []
        jobs.reserveCapacity(submissions.count)
        for (submission, id) in zip(submissions, ids) {
            jobs.append(try NewJob(submission, id: id, secrets))
            if jobs.count % Self.encodedCount == 0 { await Task.yield() }
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
    static func checkQuota(_ quota: Int, _ transaction: StoreTransaction) throws {
        let bytes = try transaction.currentCounts().mediaBytes
        guard Int(clamping: bytes) > quota else { return }
        throw AttachPrepError(
            .outputNoSpace,
            "Stored files take \(bytes) bytes, over the quota of \(quota), and none of them can be removed yet; "
                + "try again later, or ask the service's operator to raise the quota.")
    }

    /// - Throws: `queue.full`.
    static func checkCapacity(for count: Int, limit: Int, _ transaction: StoreTransaction) throws {
        let queued = Int(clamping: try transaction.currentCounts()[.queued])
        guard queued.adding(clamping: count) <= limit else { throw AttachPrepError.queueFull(queued, limit: limit) }
    }
}

/// A submission as a row, encoded before it reaches the database's thread.
struct NewJob: Sendable {
    let id: JobID
    private let submission: JobSubmission
    private let shown: AttachmentRequest
    private let request: String
    private let secret: String?
    private let origin: String?

    init(_ submission: JobSubmission, id: JobID, _ secrets: SecretStorage) throws {
        self.submission = submission
        self.id = id
        shown = submission.request.shown
        request = try StoredJSON.text(shown)
        secret = try JobSecrets(submission.request).map { try secrets.stored(try StoredJSON.text($0), for: id.text) }
        origin = try submission.origin.stored()
    }

    func job(createdAt date: Date) -> Job {
        var job = Job(id: id, state: .queued, request: shown, createdAt: date)
        job.origin = submission.origin
        job.dueAt = max(date, submission.request.jobOptions.notBefore ?? date)
        return job
    }

    func insert(_ transaction: StoreTransaction, at now: Int64) {
        transaction.later(insertion(at: now))
        for tag in submission.request.jobOptions.tags {
            transaction.later("INSERT INTO job_tag (tag, job) VALUES ($1, $2)", [.text(tag), .text(id.text)])
        }
    }

    private func insertion(at now: Int64) -> SQLStatement {
        let options = submission.request.jobOptions
        let notBefore = options.notBefore.map(\.milliseconds)
        let waits = notBefore.map { $0 > now } ?? false
        let due = waits ? notBefore ?? now : now
        return SQLStatement(
            """
            INSERT INTO job (id, state, lane, caller_id, source, owner, host, key, upload, created_at, due_at, place,
                not_before, wait, calls_back, request, secret, origin, batch, idempotency_key, not_after)
            VALUES ($1, 'queued', $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
            """,
            [
                .text(id.text), .integer(Int64(options.priority.lane)), SQLValue(shown.id), .text(shown.source),
                .text(submission.origin.caller ?? ""), .text(submission.hostGroup), .text(submission.key.text),
                SQLValue(Upload.named(by: submission.request.source)?.text), .integer(now), .integer(due),
                SQLValue(notBefore), .integer(Int64((waits ? JobWait.notBefore : .none).rawValue)),
                options.callbackURL == nil ? 0 : 1, .text(request), SQLValue(secret), SQLValue(origin),
                SQLValue(submission.origin.batch), SQLValue(submission.origin.idempotencyKey),
                SQLValue(options.notAfter.map(\.milliseconds)),
            ])
    }
}

extension IdempotencyKey {
    private static func oldest(_ now: Int64) -> Int64 {
        now.subtracting(clamping: Int64(Limits.idempotencySecondsMax * 1000))
    }

    /// Returns the jobs of an earlier submission with this key; nil when there was none in the last 24 hours.
    ///
    /// - Throws: `request.conflict` when it had a different body.
    func jobs(_ connection: StoreTransaction) throws -> [JobRecord]? {
        let found = try connection.row(
            "SELECT digest, jobs FROM idempotency WHERE caller = $1 AND key = $2 AND created_at > $3",
            [.text(caller), .text(key), .integer(Self.oldest(connection.moment.wall))])
        guard let found else { return nil }
        let digest: String = found[0]
        guard digest.utf8.elementsEqual(bodyDigest.utf8) else { throw AttachPrepError.reusedIdempotencyKey }
        let ids: [String] = try StoredJSON.value(found[1] as String, "an idempotency key's jobs")
        let rows = try connection.rows(
            """
            SELECT \(JobRecord.liveColumns) FROM job WHERE \(connection.dialect.isAmong("id", 1))
            UNION ALL SELECT \(JobRecord.finishedColumns) FROM finished_job WHERE \(connection.dialect.isAmong("id", 1))
            """, [.texts(ids)]
        ).map(JobRecord.init)
        let byID = Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        // All jobs were purged since then: treat the submission as new.
        return rows.isEmpty && !ids.isEmpty ? nil : ids.compactMap { byID[$0] }
    }

    /// - Returns: False when another submission has used the key since `jobs`.
    func store(_ jobs: [JobID], _ transaction: StoreTransaction) throws -> Bool {
        let now = transaction.moment.wall
        let row: [SQLValue] = [
            .text(caller), .text(key), .text(bodyDigest), .integer(now), .text(try StoredJSON.text(jobs)),
        ]
        let isNew = try transaction.run(
            """
            INSERT INTO idempotency (caller, key, digest, created_at, jobs) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (caller, key) DO NOTHING
            """, row)
        if isNew > 0 { return true }
        // One statement would not do in PostgreSQL: a statement that has waited for another submission sees its row of
        // the key but not its jobs. So the row is locked first, and the next statement sees both.
        return try transaction.run([
            SQLStatement(
                "SELECT 1 FROM idempotency WHERE caller = $1 AND key = $2 \(transaction.dialect.forUpdate)",
                Array(row[..<2])),
            SQLStatement(
                """
                UPDATE idempotency SET digest = $3, created_at = $4, jobs = $5
                WHERE caller = $1 AND key = $2 AND (created_at <= $6 OR NOT (\(Self.hasJob(transaction.dialect))))
                """, row + [.integer(Self.oldest(now))]),
        ])[1].changes > 0
    }

    /// Whether one of the jobs of a row still exists.
    private static func hasJob(_ dialect: SQLDialect) -> String {
        let ids =
            dialect == .sqlite
            ? "SELECT value FROM json_each(idempotency.jobs)"
            : "SELECT json_array_elements_text(CAST(idempotency.jobs AS json))"
        return ["job", "finished_job"].map { "EXISTS (SELECT 1 FROM \($0) WHERE id IN (\(ids)))" }
            .joined(separator: " OR ")
    }

    /// Deletes some of the expired keys.
    ///
    /// - Returns: The number of deleted keys.
    static func deleteExpired(_ transaction: StoreTransaction) throws -> Int {
        try transaction.run(
            """
            DELETE FROM idempotency WHERE (caller, key) IN (SELECT caller, key FROM idempotency
                WHERE created_at <= $1 LIMIT \(SQLJobStore.removalCountMax))
            """, [.integer(oldest(transaction.moment.wall))])
    }
}
