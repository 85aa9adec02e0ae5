import AttachPrep
import AttachPrepJobs
import FoundationEssentials
import RichPush
import SQLiteQueue
import SafeArithmetic

/// A job as stored on the servers: one value under one key. Changes are conditional on the revision, so that only one
/// of two concurrent changes succeeds.
///
/// Times are milliseconds since 1970. Requests, secrets, results and errors are JSON, as in the SQLite driver's rows.
struct StoredJob: Codable, Sendable, Hashable {
    var id: String
    var state: JobState
    /// The batch that it was submitted in, whose record makes it a job; nil for a single job.
    var batch: String?
    var lane: Int
    var host: String?
    var key: String
    var upload: String?
    /// The caller's own id, for searches.
    var caller: String?
    /// The source without secrets, for searches.
    var source: String
    /// The request without secrets, as JSON.
    var request: String
    /// The `JobOrigin` as JSON; nil without one, as in values of older versions.
    var origin: String?
    /// The `JobSecrets` of the request as JSON; nil without secrets, `JobSecrets.wiped` after they were deleted.
    var secret: String?
    var attempts = 0
    var losses = 0
    var createdAt: Int64
    var startedAt: Int64?
    var finishedAt: Int64?
    var dueAt: Int64
    var notBefore: Int64?
    /// The reason for `dueAt` (`JobWait`).
    var wait: Int
    /// The milliseconds of a back-off, by the clock that set `dueAt`; nil in values of older versions.
    var backOff: Int64?
    /// The token of the lease while the job is running, and of the lease that ended it afterwards.
    var token: Int64?
    /// The worker of the last attempt.
    var worker: String?
    var isCancelling = false
    var result: String?
    var error: String?
    var errorCode: String?
    var media: String?
    /// The webhooks about its ends, the latest last.
    var notices: [StoredNotice]?
}

extension StoredJob {
    /// A new job.
    ///
    /// - Parameter shown: the request without secrets.
    init(_ submission: JobSubmission, shown: AttachmentRequest, batch: String?, at date: Date) throws {
        let created = date.milliseconds
        let notBefore = submission.request.jobOptions.notBefore.map(\.milliseconds)
        let waits = notBefore.map { $0 > created } ?? false
        self.init(
            id: JobID.make(at: date).text, state: .queued, batch: batch,
            lane: submission.request.jobOptions.priority.lane, host: submission.hostGroup, key: submission.key.text,
            upload: Upload.named(by: submission.request.source)?.text, caller: shown.id, source: shown.source,
            request: try StoredJSON.text(shown), origin: try submission.origin.stored(),
            secret: try JobSecrets(submission.request).map { try StoredJSON.text($0) }, createdAt: created,
            dueAt: waits ? notBefore ?? created : created, notBefore: notBefore,
            wait: (waits ? JobWait.notBefore : .none).rawValue)
    }

    /// Decodes a stored value.
    ///
    /// - Throws: `queue.unavailable` for a value that no version of attachprep wrote.
    init(_ bytes: [UInt8]) throws {
        self = try StoredJSON.value(bytes, "a job")
    }

    func bytes() throws -> [UInt8] { try StoredJSON.bytes(self) }

    func job() throws -> Job { try JobRecord(self).job() }

    /// The job with its secrets and lease, for a worker.
    func claimed() throws -> ClaimedJob {
        try ClaimedJob(job(), secret: secret, key: key, token: token ?? 0, dueAt: dueAt, losses: losses)
    }
}

extension JobRecord {
    init(_ job: StoredJob) {
        self.init(
            uuid: job.id, state: job.state.rawValue, request: job.request, result: job.result, error: job.error,
            attempts: job.attempts, createdAt: job.createdAt, startedAt: job.startedAt, finishedAt: job.finishedAt,
            media: job.media, origin: job.origin, worker: job.worker)
    }
}

struct VersionedJob: Sendable, Hashable {
    var value: StoredJob
    /// The key's revision, which the next change must name.
    var revision: UInt64
    /// When this machine received it, in milliseconds of its steady clock.
    var receivedAt: Int64
}

/// The state transitions of a job: pure. Each returns the changed job, or nil when the transition is not possible now.
extension StoredJob {
    func claimed(by worker: String, token: Int64, at now: Int64) -> StoredJob? {
        guard state == .queued else { return nil }
        var job = self
        job.state = .running
        job.batch = nil
        job.attempts = attempts.adding(clamping: 1)
        job.startedAt = now
        job.wait = JobWait.none.rawValue
        job.token = token
        job.worker = worker
        return job
    }

    func isRunning(under token: Int64) -> Bool { state == .running && self.token == token }

    func ended(_ end: EncodedCompletion, notice: StoredNotice?, under token: Int64, at now: Int64) -> StoredJob? {
        guard isRunning(under: token) else { return nil }
        var job = self
        job.finish(end.state, at: now)
        job.result = end.result
        if end.state != .cancelled { job.error = end.error }
        job.errorCode = end.errorCode
        job.media = end.media?.text
        job.add(notice)
        return job
    }

    func postponed(
        until date: Int64, error: String, code: String, isAttempt: Bool = true, under token: Int64, at now: Int64
    ) -> StoredJob? {
        guard isRunning(under: token) else { return nil }
        var job = self
        if !isAttempt { job.takeBackAttempt() }
        job.backOff(until: date, at: now)
        job.error = error
        job.errorCode = code
        job.requeue(at: now)
        return job
    }

    func released(under token: Int64, at now: Int64) -> StoredJob? {
        guard isRunning(under: token) else { return nil }
        var job = self
        job.dueAt = min(dueAt, now)
        job.takeBackAttempt()
        job.requeue(at: now)
        return job
    }

    private mutating func backOff(until date: Int64, at now: Int64) {
        (dueAt, wait) = (date, JobWait.backOff.rawValue)
        backOff = max(0, date.subtracting(clamping: now))
    }

    /// Removes the current attempt from the count.
    private mutating func takeBackAttempt() {
        attempts = attempts.subtracting(clamping: 1)
        if attempts <= 0 { (startedAt, worker) = (nil, nil) }
    }

    /// Its worker was lost; it waits as `LossPolicy` says.
    func lost(at now: Int64) -> StoredJob? {
        guard state == .running else { return nil }
        var job = self
        job.losses = losses.adding(clamping: 1)
        job.backOff(until: now.adding(clamping: LossPolicy.delayMilliseconds(losses: job.losses)), at: now)
        job.requeue(at: now)
        return job
    }

    func cancelled(at now: Int64) -> StoredJob? {
        var job = self
        switch state {
        case .queued: job.cancel(at: now)
        case .running: job.isCancelling = true
        default: return nil
        }
        return job
    }

    func retried(at now: Int64) -> StoredJob? {
        guard state.isRetryable else { return nil }
        var job = self
        job.state = .queued
        (job.attempts, job.losses) = (0, 0)
        (job.result, job.error, job.errorCode, job.media) = (nil, nil, nil, nil)
        (job.startedAt, job.finishedAt) = (nil, nil)
        (job.token, job.worker) = (nil, nil)
        job.dueAt = now
        job.wait = JobWait.none.rawValue
        return job
    }

    // MARK: Helpers

    /// Puts the job back into the queue, or cancels it if that was requested while it was running.
    private mutating func requeue(at now: Int64) {
        if isCancelling { return cancel(at: now) }
        state = .queued
        token = nil
    }

    /// Ends the job as cancelled and adds the webhook, whose URL must be read before the secrets are wiped.
    private mutating func cancel(at now: Int64) {
        if request.contains("\"callbackURL\""), let job = try? claimed(),
            let notice = WebhookNotice(for: job, .cancelled, at: nil, date: Date(milliseconds: now))
        {
            add(StoredNotice(notice, at: now))
        }
        finish(.cancelled, at: now)
    }

    /// Ends the job. Its token is kept, so that the lease that ended it can recognize this if the answer is lost.
    private mutating func finish(_ end: JobState, at now: Int64) {
        state = end
        finishedAt = now
        isCancelling = false
        batch = nil
        if end == .succeeded || end == .cancelled, secret != nil { secret = JobSecrets.wiped }
    }
}
