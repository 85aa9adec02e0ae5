import AttachPrep
import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs

/// Jobs that report a fallback while they wait for their source.
@Suite(.timeLimit(.minutes(2))) struct PartialResultTests {
    /// A clip with a snapshot as its fallback.
    private static func submission(payload: String = "null") throws -> JobSubmission {
        let json = """
            {"source": "https://cdn.example/clip.mp4?token=s3cr3t", "id": "event-1", "partial": true,
             "fallbacks": ["https://cdn.example/snapshot.jpg?token=s3cr3t"], "callbackURL": "https://hooks.example/a",
             "payload": \(payload)}
            """
        let request = try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
        return JobSubmission(request: request, key: WorkKey("event"), host: "cdn.example")
    }

    /// Prepares fallbacks at once, and the source as the script says.
    private static func bench(
        _ change: @escaping (inout WorkerSettings) -> Void = { _ in },
        source: @escaping @Sendable (PreparationTask, _ output: String) async -> PreparationResult
    ) async throws -> WorkerBench {
        try await WorkerBench({
            $0.baseURL = "https://media.example"
            change(&$0)
        }) { task, _, output in
            task.request.source.contains("snapshot")
                ? task.prepared(in: output, "snapshot") : await source(task, output)
        }
    }

    private func body(_ webhook: Webhook) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(webhook.notice.body.utf8)) as? [String: Any])
    }

    @Test func `The fallback is reported while the source is waited for, and both files are kept`() async throws {
        let gate = LoopbackGate()
        let bench = try await Self.bench { task, output in
            await gate.waitUntilOpen()
            return task.prepared(in: output, "clip")
        }
        let id = try await bench.enqueue(Self.submission())[0]
        let (partial, job) = try await bench.working { _ in
            try await pollUntil("the partial result") { try await bench.job(id).partial != nil }
            let partial = try await bench.job(id)
            gate.open()
            return (partial, try await bench.ended(id))
        }
        #expect(partial.state == .running && partial.result == nil && partial.partial?.isPartial == true)
        #expect(partial.partial?.id == "event-1" && partial.partial?.source.tried?.map(\.code) == [nil, nil])
        #expect(job.state == .succeeded && job.partial == nil && job.result?.isPartial == false)
        #expect(job.media != partial.media)
        let reported = try #require(partial.partial?.reportedAt)
        let earlier = try #require(job.result?.partialResult)
        #expect(job.result?.reportedAt == nil && earlier.reportedAt == reported)
        #expect(earlier.source.hasPrefix("https://cdn.example/snapshot.jpg"))
        #expect(earlier.attachment.url?.contains("/media/\(partial.media?.text ?? "-")/") == true)
        for (media, text) in [(partial.media, "snapshot"), (job.media, "clip")] {
            let id = try #require(media)
            let file = try #require(try await bench.store.file("attachment.jpg", of: id))
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
        }
        let webhooks = try await bench.webhooks().reversed().map(\.self)
        #expect(webhooks.map(\.notice.event) == [.attachmentPartial, .attachmentPrepared])
        let data = try #require(try body(webhooks[0])["data"] as? [String: Any])
        #expect(data["partial"] as? Bool == true)
        #expect((try body(webhooks[0])["job"] as? [String: Any])?["state"] as? String == "running")
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.preparer.output).isEmpty)
    }

    @Test func `Both webhooks have a payload to send, with one collapse ID`() async throws {
        let gate = LoopbackGate()
        let bench = try await Self.bench { task, output in
            await gate.waitUntilOpen()
            return task.prepared(in: output, "clip")
        }
        let id = try await bench.enqueue(Self.submission(payload: #"{"aps": {"alert": "Door", "badge": 1.5}}"#))[0]
        try await bench.working { _ in
            try await pollUntil("the partial result") { try await bench.job(id).partial != nil }
            gate.open()
            try await bench.ended(id)
        }
        let webhooks = try await bench.webhooks()
        #expect(webhooks.count == 2)
        for webhook in webhooks {
            let whole = try body(webhook)
            let push = try #require(whole["push"] as? [String: Any])
            #expect(push["headers"] as? [String: String] == ["apns-collapse-id": "event-1"])
            let payload = try #require(push["payload"] as? [String: Any])
            let aps = try #require(payload["aps"] as? [String: Any])
            #expect(
                aps["alert"] as? String == "Door" && aps["mutable-content"] as? Int == 1
                    && aps["badge"] as? Double == 1.5)
            let attachments = (payload["attachprep"] as? [String: Any])?["attachments"] as? [[String: Any]]
            #expect((attachments?.first?["url"] as? String)?.hasPrefix("https://media.example/media/") == true)
        }
    }

    @Test func `The fallback is the result when the source fails, without a partial event before`() async throws {
        let bench = try await Self.bench { task, _ in task.rejected(.sourceNotFound) }
        let id = try await bench.enqueue(Self.submission())[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .succeeded && job.result?.isPartial == false)
        #expect(job.result?.source.tried?.map(\.code) == [.sourceNotFound, nil])
        #expect(job.result?.reportedAt == nil && job.result?.partialResult == nil)
        #expect(try await bench.webhooks().last?.notice.event != .attachmentRejected)
        #expect(try await bench.webhooks().first?.notice.event == .attachmentPrepared)
    }

    @Test func `A source that fails for now is tried again, and the partial result is reported once`() async throws {
        let bench = try await Self.bench { task, _ in task.rejected(.downloadTimeout) }
        let id = try await bench.enqueue(Self.submission())[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .succeeded && job.attempts == Limits.jobAttemptsMax)
        #expect(job.result?.source.tried?.map(\.code) == [.downloadTimeout, nil])
        #expect(job.result?.partialResult?.attachment.sha256 == job.result?.attachment?.sha256)
        #expect(bench.tasks.count { $0.request.source.contains("snapshot") } == 1)
        #expect(try await bench.webhooks().map(\.notice.event) == [.attachmentPrepared, .attachmentPartial])
    }

    @Test func `Without a fallback that can be prepared the job fails as its source does`() async throws {
        let bench = try await WorkerBench { task, _, _ in task.rejected(.sourceNotFound) }
        let id = try await bench.enqueue(Self.submission())[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed && job.error?.code == .sourceNotFound)
        #expect(try await bench.webhooks().map(\.notice.event) == [.attachmentRejected])
    }

    @Test func `A job that waits for its source gives its place to others, also on its host`() async throws {
        let gate = LoopbackGate()
        let bench = try await WorkerBench({ ($0.concurrency, $0.hostLimit) = (2, 1) }) { task, _, output in
            task.onWaiting?(true)
            await gate.waitUntilOpen()
            task.onWaiting?(false)
            return task.prepared(in: output)
        }
        let ids = try await bench.store.enqueue((0..<12).map { _ in .sample() }, idempotency: nil).jobs.map(\.id)
        try await bench.working { worker in
            try await pollUntil("all of them wait") { bench.tasks.count == 12 }
            #expect(worker.dependencies.activeLeases.waiting == ["cdn.example": 12])
            gate.open()
            for id in ids { try await bench.ended(id) }
            #expect(worker.dependencies.activeLeases.count == 0)
        }
    }

    // MARK: Requests

    @Test(arguments: [
        #"{"source": "https://a.example/", "payload": []}"#,
        #"{"source": "https://a.example/", "payload": {"alert": "x"}}"#,
        #"{"source": "https://a.example/", "fallbacks": [""]}"#,
        #"{"source": "https://a.example/", "fallbacks": "https://a.example/"}"#,
    ])
    func `An incomplete request is rejected`(json: String) {
        #expect(throws: AttachPrepError.self) {
            try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: "")).validate()
        }
    }

    @Test func `A payload over the limit of APNs is rejected`() {
        let text = String(repeating: "x", count: 5_000)
        let json = #"{"source": "https://a.example/", "payload": {"aps": {"alert": "\#(text)"}}}"#
        let error = #expect(throws: AttachPrepError.self) {
            try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
        }
        #expect(error?.code == .payloadTooLarge)
    }

    @Test func `Secrets of fallbacks are stored apart and restored`() throws {
        let request = try Self.submission().request
        #expect(!String(describing: request.shown.fallbacks).contains("s3cr3t"))
        #expect(try #require(JobSecrets(request)).restored(to: request.shown) == request)
    }
}
