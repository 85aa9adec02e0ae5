import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A job as the servers keep it: one value under one key. Whoever changes it names the revision that he changes, so of
/// two who want to end it, one does.
///
/// Times are milliseconds since 1970; requests, secrets, results and errors are JSON, as in the SQLite driver's rows.
struct KeptJob: Decodable, Sendable, Hashable {
    var id: String
    var state: JobState
    /// The batch that it came in; it is a job when that is there, too. Nil for one that came alone.
    var batch: String?
    var lane: Int
    var host: String?
    var key: String
    var upload: String?
    /// The caller's own id, and the source as it is shown: lists are searched by them.
    var caller: String?
    var source: String
    var request: String
    /// What it came in with: JSON; nil for nothing, as in values of versions before it.
    var origin: String?
    /// What `request` does not show; empty once it was wiped.
    var secret: String?
    var attempts = 0
    var losses = 0
    /// Nil for none, as in values of versions before it.
    var crashes: Int?
    /// The worker that was lost last while it had the job: when it turns out to have crashed, the loss was a crash.
    var lostBy: String?
    var createdAt: Int64
    var startedAt: Int64?
    var finishedAt: Int64?
    var dueAt: Int64
    var notBefore: Int64?
    /// Why it is due then (`JobWait`).
    var wait: Int
    /// Whose it is while it runs, and who ended it afterwards.
    var token: Int64?
    var worker: String?
    var isCancelling = false
    var result: String?
    var error: String?
    var errorCode: String?
    var media: String?
    /// What its caller is told of its ends, the latest last.
    var notices: [KeptNotice]?
}

extension KeptJob {
    /// A new one.
    ///
    /// - Parameter shown: its request, as everybody may see it.
    init(_ submission: JobSubmission, shown: AttachmentRequest, batch: String?, at date: Date) throws {
        let created = date.milliseconds
        let notBefore = submission.request.terms.notBefore.map(\.milliseconds)
        let waits = notBefore.map { $0 > created } ?? false
        self.init(
            id: JobID.make(at: date).text, state: .queued, batch: batch,
            lane: submission.request.terms.priority.lane, host: submission.host, key: submission.key.text,
            upload: Upload.named(by: submission.request.source)?.text, caller: shown.id, source: shown.source,
            request: try StoredJSON.text(shown), origin: try submission.origin.stored(),
            secret: try JobSecrets(submission.request).map { try StoredJSON.text($0) }, createdAt: created,
            dueAt: waits ? notBefore ?? created : created, notBefore: notBefore,
            wait: (waits ? JobWait.notBefore : .none).rawValue)
    }

    /// - Throws: `queue.unavailable` for a value that none of our versions wrote.
    init(_ bytes: [UInt8]) throws {
        do {
            self = try JSONDecoder().decode(KeptJob.self, from: Data(bytes))
        } catch {
            throw StoreFault.unreadable("a job", error)
        }
    }

    func bytes() throws -> [UInt8] {
        // Bounded: lengths and places within what is in memory.
        let room = request.utf8.count + (secret?.utf8.count ?? 0) + (result?.utf8.count ?? 0)
        // Bounded: lengths and places within what is in memory.
        var members = JSONMembers(capacity: room + room / 4 + Self.otherBytes)
        writeOrder(to: &members)
        writeStanding(to: &members)
        members.add("notices", json: try notices.map { Array(try JSONEncoder().encode($0)) })
        return members.object
    }

    /// All but the long texts take about so much.
    private static let otherBytes = 1_024

    /// What was asked for: the same for all of the job's life.
    private func writeOrder(to members: inout JSONMembers) {
        members.add("id", id)
        members.add("lane", lane)
        members.add("host", host)
        members.add("key", key)
        members.add("upload", upload)
        members.add("caller", caller)
        members.add("source", source)
        members.add("request", request)
        members.add("origin", origin)
        members.add("createdAt", createdAt)
        members.add("notBefore", notBefore)
    }

    /// What has become of it.
    private func writeStanding(to members: inout JSONMembers) {
        members.add("state", state.rawValue)
        members.add("batch", batch)
        members.add("secret", secret)
        members.add("attempts", attempts)
        members.add("losses", losses)
        members.add("crashes", crashes)
        members.add("lostBy", lostBy)
        members.add("startedAt", startedAt)
        members.add("finishedAt", finishedAt)
        members.add("dueAt", dueAt)
        members.add("wait", wait)
        members.add("token", token)
        members.add("worker", worker)
        members.add("isCancelling", isCancelling)
        members.add("result", result)
        members.add("error", error)
        members.add("errorCode", errorCode)
        members.add("media", media)
    }

    /// As everybody may see it.
    func job() throws -> Job { try JobRecord(self).job() }

    /// In a worker's hands.
    func claimed() throws -> ClaimedJob {
        let job = try job()
        var request = job.request
        if let secret {
            let secrets: JobSecrets = try StoredJSON.value(secret, "a job's secrets")
            request = secrets.restored(to: request)
        }
        return ClaimedJob(
            job: job, request: request, key: WorkKey(key), lease: JobLease(job: job.id, token: token ?? 0),
            dueAt: Date(milliseconds: dueAt),
            failures: ClaimedJob.failures(attempts: attempts, losses: losses, crashes: crashes ?? 0), losses: losses,
            crashes: crashes ?? 0)
    }
}

extension JobRecord {
    init(_ job: KeptJob) {
        uuid = job.id
        state = job.state.rawValue
        request = job.request
        result = job.result
        error = job.error
        attempts = job.attempts
        createdAt = job.createdAt
        startedAt = job.startedAt
        finishedAt = job.finishedAt
        media = job.media
        origin = job.origin
    }
}
