import AttachPrep
import AttachPrepJobs
import Crypto
import Foundation
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Jobs with the real preparer, from a server on loopback into the store.
@Suite(.timeLimit(.minutes(2))) struct JobWorkerEndToEndTests {
    private static let image = SourceTree.root.appendingPathComponent("samples/media/grid.jpg")

    private let server: LoopbackServer
    private let bench: WorkerBench
    private let validator: SubmissionValidator

    init() async throws {
        server = try LoopbackServer()
        bench = try await WorkerBench(preparer: { output in
            var configuration = PreparerConfiguration(output: output)
            configuration.download.allowsPrivateNetwork = true
            return try AttachmentPreparer(configuration, engine: try InProcessMediaEngine(mediaSlots: 1))
        })
        validator = SubmissionValidator(uploads: bench.store, sendsWebhooks: true)
    }

    private func enqueue(_ source: String, count: Int = 1) async throws -> [JobID] {
        let submission = try await validator.submission(for: AttachmentRequest(source: source))
        let submissions = Array(repeating: submission, count: count)
        return try await bench.store.enqueue(submissions, idempotency: nil).jobs.map(\.id)
    }

    @Test func `Twenty jobs for one source share one request, and a later job revalidates`() async throws {
        let image = try Data(contentsOf: Self.image)
        server.serve("/cat") { request in
            request.headers["if-none-match"] == "\"1\"" ? .head(304) : .body(image, headers: ["ETag": "\"1\""])
        }
        try await bench.working { _ in
            for id in try await enqueue(server.url("/cat"), count: 20) {
                let job = try await bench.ended(id)
                #expect(job.result?.outcome == .passed)
            }
            #expect(server.requests.count == 1)
            let job = try await bench.ended(try await enqueue(server.url("/cat"))[0])
            #expect(job.state == .succeeded)
            #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\""])
        }
        let jobs = try await bench.store.list(JobFilter(), after: nil, limit: 100).jobs
        #expect(Set(jobs.compactMap(\.media)).count == 1)
        #expect(bench.metrics.value("results_reused_total{kind=unchanged}") == 1)
        #expect(bench.metrics.value("download_bytes_total") == Double(image.count))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.preparer.output).isEmpty)
    }

    @Test func `A changed source is fetched, and the earlier result is kept`() async throws {
        let other = try Data(contentsOf: SourceTree.root.appendingPathComponent("samples/media/grid.png"))
        server.serve(
            "/cat",
            inTurn: [
                .body(try Data(contentsOf: Self.image), headers: ["ETag": "\"1\""]),
                .body(other, headers: ["ETag": "\"2\""]),
            ])
        try await bench.working { _ in
            for format in ["image/jpeg", "image/png"] {
                let job = try await bench.ended(try await enqueue(server.url("/cat"))[0])
                #expect(job.result?.source.mimeType == format)
                let media = try #require(job.media)
                let file = try #require(job.result?.attachment?.file)
                #expect(try await bench.store.file(file, of: media) != nil)
            }
        }
        #expect(server.requests.count == 2)
    }

    @Test func `Two identical uploads are prepared once`() async throws {
        let image = try Data(contentsOf: Self.image)
        try await bench.working { _ in
            for number in 1...2 {
                let upload = try await bench.store.beginUpload()
                try image.write(to: URL(fileURLWithPath: upload.path))
                let digest = SHA256.hash(data: image).map { String(format: "%02x", $0) }.joined()
                let stored = try await bench.store.store(upload, bytes: image.count, sha256: digest)
                let job = try await bench.ended(try await enqueue("upload:\(stored.id)")[0])
                #expect(job.result?.outcome == .passed)
                #expect(job.result?.source.url == "upload:\(stored.id)")
                #expect(bench.metrics.value("results_reused_total{kind=fresh}") == Double(number - 1))
            }
        }
    }

    @Test func `Requests with different headers have different results`() async throws {
        let image = try Data(contentsOf: Self.image)
        server.serve("/cat", .body(image, headers: ["ETag": "\"1\"", "Cache-Control": "private, max-age=600"]))
        try await bench.working { _ in
            for token in ["a", "b", "a"] {
                var request = AttachmentRequest(source: server.url("/cat"))
                request.headers = ["Authorization": "Bearer \(token)"]
                let submission = try await validator.submission(for: request)
                let id = try await bench.enqueue(submission)[0]
                #expect(try await bench.ended(id).state == .succeeded)
            }
        }
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer a", "Bearer b", "Bearer a"])
        #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, nil, "\"1\""])
    }
}
