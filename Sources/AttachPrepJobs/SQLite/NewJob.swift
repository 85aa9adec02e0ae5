import AttachPrep
import GRDB
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Why a queued job is due when it is.
enum JobWait: Int {
    /// It is not told to wait: due since it came.
    case none = 0
    /// Its last attempt failed, or its workers ended.
    case backOff = 1
    /// Its caller named a time.
    case notBefore = 2
}

extension JobPriority {
    /// Its number in the database.
    var lane: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .bulk: 2
        }
    }
}

/// A submission as the database takes it: encoded before it comes to the writer's thread.
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
        let terms = submission.request.terms
        let notBefore = terms.notBefore.map(\.milliseconds)
        let waits = notBefore.map { $0 > created } ?? false
        try database.run(
            """
            INSERT INTO job (uuid, state, lane, caller_id, source, host, key, upload, created_at, due_at, not_before,
                wait, request, secret, origin)
            VALUES (?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                job.id.text, terms.priority.lane, job.request.id, job.request.source, submission.host,
                submission.key.text, Upload.named(by: submission.request.source)?.text, created,
                waits ? notBefore : created, notBefore, (waits ? JobWait.notBefore : .none).rawValue, request, secret,
                origin,
            ])
    }
}
