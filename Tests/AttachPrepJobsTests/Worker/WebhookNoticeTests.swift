import AttachPrep
import Foundation
import RichPush
import Testing

@testable import AttachPrepJobs

/// What a job's caller is told.
struct WebhookNoticeTests {
    private static let date = Date(timeIntervalSince1970: 1_795_294_262.5)

    private func claimed(_ callbackURL: String?) -> ClaimedJob {
        var request = AttachmentRequest(source: "https://cdn.example/cat")
        request.terms.callbackURL = callbackURL
        let job = Job(id: .make(), state: .running, request: request.shown, attempts: 1, createdAt: Self.date)
        return ClaimedJob(
            job: job, request: request, key: WorkKey("key"), lease: JobLease(job: job.id, token: 1), dueAt: Self.date,
            failures: 0, losses: 0)
    }

    private func notice(_ ending: JobEnding, to url: String? = "https://hooks.example/a?token=s3cr3t") -> WebhookNotice?
    {
        WebhookNotice(for: claimed(url), ending, at: "https://media.example/push/", date: Self.date)
    }

    @Test func `A result is told with the addresses of its files`() throws {
        var manifest = Manifest.sample()
        manifest.attachment = ManifestFile(file: "attachment.jpg", type: .jpeg, bytes: 4, sha256: "ab")
        let media = MediaID.make()
        let told = try #require(self.notice(.succeeded(manifest, media)))
        #expect(told.url == "https://hooks.example/a?token=s3cr3t")
        #expect(told.event == .attachmentPrepared)
        let body = try #require(try JSONSerialization.jsonObject(with: Data(told.body.utf8)) as? [String: Any])
        #expect(Set(body.keys) == ["type", "timestamp", "data"])
        #expect(body["type"] as? String == "attachment.prepared")
        #expect(body["timestamp"] as? String == Timestamp.text(Self.date))
        let attachment = try #require((body["data"] as? [String: Any])?["attachment"] as? [String: Any])
        #expect(attachment["url"] as? String == "https://media.example/push/media/\(media)/attachment.jpg")
        #expect(!told.body.contains("s3cr3t"))
    }

    @Test func `Each end has its event, and being called off has none`() {
        #expect(notice(.failed(.rejected(.mediaCorrupt)))?.event == .attachmentRejected)
        #expect(notice(.dead(.rejected(.downloadTimeout)))?.event == .jobDead)
        #expect(notice(.cancelled) == nil)
        #expect(notice(.failed(.rejected(.mediaCorrupt)), to: nil) == nil)
    }
}
