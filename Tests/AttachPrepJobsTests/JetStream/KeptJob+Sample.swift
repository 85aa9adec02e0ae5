import AttachPrep
import Foundation
import RichPush

@testable import AttachPrepJobs
@testable import JetStreamQueue

extension StoredJob {
    /// One that has just been put in.
    static func sample(at date: Date = .now) throws -> StoredJob {
        let submission = JobSubmission.sample()
        return try StoredJob(submission, shown: submission.request.shown, batch: nil, at: date)
    }

    /// One of which everything is known that can be in this state.
    static func full(_ state: JobState) -> StoredJob {
        var job = StoredJob(
            id: "01a1ffe0-72f0-7d1e-88ac-0abf1ff0fdc0", state: state, lane: 2, host: "cdn.example", key: "key",
            upload: "upload", caller: "mine", source: "https://cdn.example/a.jpg", request: #"{"source":"a\"b"}"#,
            origin: #"{"batch":"b"}"#,
            secret: #"{"headers":{}}"#, createdAt: 1, dueAt: 2, notBefore: 3, wait: 1)
        guard state != .queued else { return job }
        (job.attempts, job.losses, job.startedAt) = (3, 1, 4)
        (job.token, job.worker, job.isCancelling) = (.max, "worker", true)
        guard state == .failed else { return job }
        (job.result, job.error, job.errorCode, job.media, job.finishedAt) = ("{}", "{}", "media.corrupt", "media", 5)
        var notice = StoredNotice(
            WebhookNotice(url: "https://app.example/hook", event: .attachmentPrepared, body: "{}"), at: 6)
        (notice.attempts, notice.lastStatus, notice.lastError, notice.sender) = (2, 500, "no", 9)
        job.notices = [notice]
        return job
    }
}
