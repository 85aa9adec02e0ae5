import AttachPrep
import Foundation
import RichPush
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

@Suite struct StoredJobTests {
    @Test(arguments: [StoredJob.full(.queued), .full(.running), .full(.failed)])
    func `An encoded job is decoded unchanged`(_ job: StoredJob) throws {
        #expect(try StoredJob(job.bytes()) == job)
    }

    @Test(arguments: ["", "\"", "\\", "\u{0}\u{1F}\n\t", "a/b", "\u{7F}\u{2028}é👩‍👩‍👧", "{\"a\":\"b\\n\"}"])
    func `Every text is encoded losslessly`(_ text: String) throws {
        var job = StoredJob.full(.failed)
        (job.source, job.request, job.error) = (text, text, text)
        #expect(try StoredJob(job.bytes()) == job)
    }

    @Test func `Missing values are omitted`() throws {
        let bytes = try StoredJob.sample().bytes()
        let members = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(members["worker"] == nil && members["notices"] == nil)
        #expect(members["state"] as? String == "queued")
    }
}

extension StoredJob {
    /// A job that was just enqueued.
    static func sample(at date: Date = .now) throws -> StoredJob {
        let submission = JobSubmission.sample()
        return try StoredJob(submission, shown: submission.request.shown, batch: nil, at: date)
    }

    /// A job with every value that its state can have.
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
