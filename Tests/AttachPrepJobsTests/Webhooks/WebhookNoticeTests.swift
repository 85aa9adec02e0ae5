import AttachPrep
import Foundation
import MediaTypes
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

/// The webhooks of finished jobs.
struct WebhookNoticeTests {
    private static let date = Date(timeIntervalSince1970: 1_795_294_262.5)

    private static let origin = JobOrigin(batch: "batch", idempotencyKey: "key")

    private func claimed(_ callbackURL: String?) -> ClaimedJob {
        var request = AttachmentRequest(source: "https://cdn.example/cat")
        request.jobOptions.callbackURL = callbackURL
        var job = Job(id: .make(), state: .running, request: request.shown, attempts: 3, createdAt: Self.date)
        job.origin = Self.origin
        return ClaimedJob(
            job: job, request: request, key: WorkKey("key"), lease: JobLease(job: job.id, token: 1), dueAt: Self.date,
            failures: 0, losses: 0)
    }

    private func notice(_ ending: JobCompletion, to url: String? = "https://hooks.example/a?token=s3cr3t")
        -> WebhookNotice?
    {
        WebhookNotice(for: claimed(url), ending, at: "https://media.example/push/", date: Self.date)
    }

    @Test func `A result's webhook has the URLs of its files`() throws {
        var manifest = Manifest.sample()
        manifest.attachment = ManifestFile(file: "attachment.jpg", type: .jpeg, bytes: 4, sha256: "ab")
        let media = MediaID.make()
        let notice = try #require(self.notice(.succeeded(manifest, media)))
        #expect(notice.url == "https://hooks.example/a?token=s3cr3t")
        #expect(notice.event == .attachmentPrepared)
        let body = try #require(try JSONSerialization.jsonObject(with: Data(notice.body.utf8)) as? [String: Any])
        #expect(Set(body.keys) == ["type", "timestamp", "data", "job"])
        #expect(body["type"] as? String == "attachment.prepared")
        #expect(body["timestamp"] as? String == Timestamp.text(Self.date))
        let attachment = try #require((body["data"] as? [String: Any])?["attachment"] as? [String: Any])
        #expect(attachment["url"] as? String == "https://media.example/push/media/\(media)/attachment-ab.jpg")
        #expect(!notice.body.contains("s3cr3t"))
    }

    @Test(arguments: [1, 100, 2_000]) func `A webhook is always below the limit of a request`(count: Int) throws {
        var manifest = Manifest.rejected(.mediaCorrupt)
        let long = String(repeating: "x", count: 60_000)
        manifest.warnings = (0..<count).map { _ in PreparationWarning(.mediaRepaired, String(long.prefix(400))) }
        manifest.reasons = [long]
        manifest.source.finalURL = "https://cdn.example/\(long)"
        let notice = try #require(self.notice(.failed(manifest)))
        #expect(notice.body.utf8.count <= Limits.httpRequestBodyBytesMax)
        let body = try #require(try JSONSerialization.jsonObject(with: Data(notice.body.utf8)) as? [String: Any])
        #expect(((body["data"] as? [String: Any])?["error"] as? [String: Any])?["code"] as? String == "media.corrupt")
    }

    // Issue 19, item 7.
    @Test func `A webhook describes its job by the id from the submission's response`() throws {
        let job = claimed("https://hooks.example/")
        let notice = try #require(WebhookNotice(for: job, .dead(.rejected(.downloadTimeout)), at: nil, date: Self.date))
        let body = try #require(try JSONSerialization.jsonObject(with: Data(notice.body.utf8)) as? [String: Any])
        let member = try #require(body["job"] as? [String: Any])
        #expect(member["id"] as? String == job.id.text && member["state"] as? String == "dead")
        #expect(member["attempts"] as? Int == 3 && member["createdAt"] as? String == Timestamp.text(Self.date))
        #expect(member["batch"] as? String == "batch" && member["idempotencyKey"] as? String == "key")
        #expect((body["data"] as? [String: Any])?["id"] as? String == "sample")
    }

    @Test func `A job without batch and idempotency key has null for both`() throws {
        var job = claimed("https://hooks.example/")
        job.job.origin = JobOrigin()
        let notice = try #require(WebhookNotice(for: job, .failed(.rejected(.mediaCorrupt)), at: nil, date: Self.date))
        let body = try #require(try JSONSerialization.jsonObject(with: Data(notice.body.utf8)) as? [String: Any])
        let member = try #require(body["job"] as? [String: Any])
        #expect(member["batch"] is NSNull && member["idempotencyKey"] is NSNull)
    }

    @Test func `A cancelled job's webhook has a rejected manifest`() throws {
        let notice = try #require(self.notice(.cancelled))
        let body = try #require(try JSONSerialization.jsonObject(with: Data(notice.body.utf8)) as? [String: Any])
        let data = try #require(body["data"] as? [String: Any])
        #expect(body["type"] as? String == "job.cancelled" && data["outcome"] as? String == "rejected")
        #expect((data["error"] as? [String: Any])?["code"] as? String == "cancelled")
        #expect((body["job"] as? [String: Any])?["state"] as? String == "cancelled")
        #expect(!notice.body.contains("s3cr3t"))
    }

    @Test func `Each final state has its event`() {
        #expect(notice(.failed(.rejected(.mediaCorrupt)))?.event == .attachmentRejected)
        #expect(notice(.dead(.rejected(.downloadTimeout)))?.event == .jobDead)
        #expect(notice(.cancelled)?.event == .jobCancelled)
        #expect(notice(.cancelled, to: nil) == nil)
        #expect(notice(.failed(.rejected(.mediaCorrupt)), to: nil) == nil)
    }
}
