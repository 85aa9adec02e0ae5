import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import Crypto
import FoundationEssentials
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic

extension NATSJobQueue {
    public func enqueue(
        _ submissions: [JobSubmission], idempotency: IdempotencyKey?
    ) async throws -> EnqueuedJobs {
        try await mapError { () async throws -> EnqueuedJobs in
            while true {
                if let taken = try await enqueueOnce(submissions, idempotency) { return taken }
            }
        }
    }

    /// - Returns: Nil when another request stored the same idempotency key first.
    private func enqueueOnce(
        _ submissions: [JobSubmission], _ idempotency: IdempotencyKey?
    ) async throws -> EnqueuedJobs? {
        var revision: UInt64 = 0
        if let idempotency, let idempotencyRecord = try await idempotencyRecord(idempotency) {
            if let earlier = idempotencyRecord.jobs { return EnqueuedJobs(jobs: earlier, areRepeated: true) }
            revision = idempotencyRecord.revision
        }
        try checkCapacity(for: submissions.count)
        let batch = idempotency == nil && submissions.count == 1 ? nil : JobID.make().text
        let date = clock.wall()
        let shown = submissions.map(\.request.shown)
        let new = try zip(submissions, shown).map { try StoredJob($0, shown: $1, batch: batch, at: date) }
        if let batch {
            guard try await storeBatch(new, as: batch, for: idempotency, after: revision) else { return nil }
        } else {
            for job in new { try await storeOne(job) }
        }
        let jobs = zip(submissions, zip(shown, new)).map { Self.job($1.0, $1.1, $0.origin) }
        return EnqueuedJobs(jobs: jobs, areRepeated: false)
    }

    /// The new job without secrets, for the answer.
    private static func job(_ request: AttachmentRequest, _ kept: StoredJob, _ origin: JobOrigin) -> Job {
        guard let id = JobID(kept.id) else { preconditionFailure("new jobs have valid IDs") }
        var job = Job(id: id, state: .queued, request: request, createdAt: Date(milliseconds: kept.createdAt))
        job.origin = origin
        return job
    }

    /// Checks the limit of queued jobs. Jobs that other machines add within the same milliseconds are not counted.
    ///
    /// - Throws: `queue.full`.
    func checkCapacity(for count: Int) throws {
        let queued = mirror.queuedCount
        guard queued.adding(clamping: count) <= limits.queuedJobsMax else {
            throw AttachPrepError.queueFull(queued, limit: limits.queuedJobsMax)
        }
    }

    /// Stores a single job: publishes its value and its lane message together.
    private func storeOne(_ job: StoredJob) async throws {
        let answers = await stream.publishAll([jobs.message(try change(job, after: 0)), laneMessage(job)])
        // The ID is random: an existing value means that the servers are faulty.
        guard let revision = try answers[0].get() else { throw Self.idCollision(job) }
        let moment = clock.now()
        try await mirror.apply([VersionedJob(value: job, revision: revision, receivedAt: moment.steady)], at: moment)
        _ = try answers[1].get()
    }

    /// Stores a batch: first its values, then the batch record that makes them jobs, then their lane messages.
    ///
    /// After a crash before the batch record is stored, the values are no jobs, and `sweepDrafts` removes them. After a
    /// later crash, `sweepLanes` publishes the missing messages.
    /// - Returns: False when another batch with the same idempotency key was stored first.
    private func storeBatch(
        _ new: [StoredJob], as batch: String, for idempotency: IdempotencyKey?, after revision: UInt64
    ) async throws -> Bool {
        let kept: [VersionedJob]
        do {
            kept = try await makeNew(new)
        } catch {
            await rollBack(new)
            throw error
        }
        // An error does not say whether the record was stored. A repeated request can read it and acknowledge these
        // jobs, so their values stay; if there is no record, `sweepDrafts` removes them.
        if let idempotency, try await !storeKey(idempotency, new, batch, after: revision) {
            await rollBack(new)
            return false
        }
        let last = try await jobs.make(KeyValueBucket.Change(QueueKeys.batch(batch), [], after: 0))
        try await mirror.apply(kept, batch: batch, until: last, at: clock.now())
        try await publish(new)
        return true
    }

    /// - Returns: False when another request stored the key first.
    private func storeKey(
        _ idempotency: IdempotencyKey, _ new: [StoredJob], _ batch: String, after revision: UInt64
    ) async throws -> Bool {
        let record = StoredIdempotencyKey(idempotency, jobs: new.map(\.id), batch: batch, at: clock.now().wall)
        return try await jobs.make(
            KeyValueBucket.Change(QueueKeys.idempotencyRecord(idempotency), try record.bytes(), after: revision)) != nil
    }

    private func rollBack(_ jobs: [StoredJob]) async {
        _ = await self.jobs.makeAll(jobs.map { KeyValueBucket.Change(QueueKeys.job($0.id), nil) })
    }

    private func makeNew(_ new: [StoredJob]) async throws -> [VersionedJob] {
        try zip(new, try await make(new.map { ($0, 0) })).map { job, answer in
            guard let kept = try answer.get() else { throw Self.idCollision(job) }
            return kept
        }
    }

    private static func idCollision(_ job: StoredJob) -> NATSError {
        .unreadable(subject: QueueKeys.job(job.id), text: "a value exists for a new job ID")
    }

    /// Publishes the lane message of each job. The servers ignore it for jobs that have one.
    func publish(_ jobs: [StoredJob]) async throws {
        for answer in await stream.publishAll(jobs.map(laneMessage)) { _ = try answer.get() }
    }

    private func laneMessage(_ job: StoredJob) -> OutgoingMessage {
        let lane = JobPriority.allCases.first { $0.lane == job.lane } ?? .normal
        return OutgoingMessage(names.laneSubject(lane, job.id)).after(0)
    }
}

/// The stored record of a caller's idempotency key: the body's digest and the jobs that it created.
struct StoredIdempotencyKey: Codable, Sendable, Hashable {
    var digest: String
    var createdAt: Int64
    var jobs: [String]
    var batch: String

    init(_ idempotency: IdempotencyKey, jobs: [String], batch: String, at now: Int64) {
        digest = idempotency.bodyDigest
        createdAt = now
        self.jobs = jobs
        self.batch = batch
    }

    func bytes() throws -> [UInt8] { try StoredJSON.bytes(self) }
}

extension NATSJobQueue {
    struct EarlierSubmission: Sendable {
        var revision: UInt64
        /// The jobs that it created; nil when the key has expired or the jobs were removed, so that it may be used
        /// again.
        var jobs: [Job]?
    }

    /// The earlier use of an idempotency key.
    ///
    /// - Returns: Nil when the key is new.
    /// - Throws: `request.conflict` when the key was used with another body.
    func idempotencyRecord(_ idempotency: IdempotencyKey) async throws -> EarlierSubmission? {
        guard let entry = try await jobs.entry(QueueKeys.idempotencyRecord(idempotency)) else { return nil }
        var earlier = EarlierSubmission(revision: entry.revision)
        guard let value = entry.value,
            let idempotencyRecord = try? JSONDecoder().decode(StoredIdempotencyKey.self, from: Data(value)),
            clock.now().wall.subtracting(clamping: idempotencyRecord.createdAt)
                < Int64(Limits.idempotencySecondsMax * 1000)
        else { return earlier }
        guard idempotencyRecord.digest == idempotency.bodyDigest else { throw AttachPrepError.reusedIdempotencyKey }
        var found: [VersionedJob] = []
        for id in idempotencyRecord.jobs { if let job = try await fetch(id, drafts: true) { found.append(job) } }
        // The process that used the key may have ended before it stored the batch record.
        if found.contains(where: { $0.value.batch != nil }) { try await storeBatchRecord(idempotencyRecord.batch) }
        // Or before it published the messages, without which the jobs would wait for a sweep.
        try await publish(found.filter(\.isUntouched).map(\.value))
        earlier.jobs = found.isEmpty && !idempotencyRecord.jobs.isEmpty ? nil : try found.map { try $0.value.job() }
        return earlier
    }

    /// Stores the batch record, which turns the batch's drafts into jobs.
    ///
    /// The servers also reject a record while they store the same one for another process, and that one may be lost. So
    /// the record is read, and created again if it is missing.
    private func storeBatchRecord(_ batch: String) async throws {
        for count in 1..<6 {
            if try await jobs.make(KeyValueBucket.Change(QueueKeys.batch(batch), [], after: 0)) != nil { return }
            if try await jobs.entry(QueueKeys.batch(batch))?.value != nil { return }
            let milliseconds = ConflictDecision(count: count).pauseMilliseconds
            try await ContinuousClock().sleep(for: .milliseconds(clamping: Int(clamping: milliseconds)))
        }
        throw AttachPrepError(.queueUnavailable, "An earlier request with this key is still being stored; try again.")
    }
}

enum QueueKeys {
    static func job(_ id: String) -> String { "job.\(id)" }

    /// The record of a complete batch. Its values become jobs when this exists.
    static func batch(_ id: String) -> String { "batch.\(id)" }

    static func idempotencyRecord(_ idempotency: IdempotencyKey) -> String {
        "word.\(digest("\(idempotency.caller)\n\(idempotency.key)"))"
    }

    /// The SHA-256 of a text in hexadecimal, because keys allow few characters.
    static func digest(_ text: String) -> String {
        SHA256.hash(data: Array(text.utf8)).hexadecimal
    }

    /// The kind of record under a key.
    enum Subject: Hashable, Sendable {
        case job(String)
        case batch(String)
        case idempotencyRecord
        case other
    }

    static func subject(of key: String) -> Subject {
        if key.hasPrefix("job.") { return .job(String(key.dropFirst(4))) }
        if key.hasPrefix("batch.") { return .batch(String(key.dropFirst(6))) }
        return key.hasPrefix("word.") ? .idempotencyRecord : .other
    }
}
