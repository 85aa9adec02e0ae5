import AttachPrep
import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

/// Results that several jobs for the same work use.
@Suite(.timeLimit(.minutes(2))) struct ResultReuseTests {
    @Test func `Many jobs with the same work key share one download`() async throws {
        let bench = try await WorkerBench { task, _, output in task.prepared(in: output) }
        let ids = try await bench.store.enqueue(
            (0..<30).map { .sample("https://cdn.example/cat", key: "cat", id: "cat-\($0)") }, idempotency: nil
        ).jobs.map(\.id)
        try await bench.working { _ in for id in ids { try await bench.ended(id) } }
        let jobs = try await bench.store.list(JobFilter(), after: nil, limit: 100).jobs
        #expect(jobs.allSatisfy { $0.state == .succeeded })
        #expect(Set(jobs.compactMap(\.media)).count == 1)
        #expect(Set(jobs.compactMap(\.result?.id)).count == 30)
        #expect(bench.tasks.count == 1)
        #expect(bench.metrics.value("results_reused_total{kind=shared}") == 29)
        let first = try #require(bench.tasks.first?.request.id)
        let reused = try #require(jobs.first { $0.result?.id != first }?.result)
        #expect(reused.timings.transfer == 0 && reused.timings.total < 60_000)
    }

    @Test func `Waiting jobs with the same work key share a failure`() async throws {
        let bench = try await WorkerBench { task, _, _ in task.rejected(.sourceNotFound) }
        let ids = try await bench.enqueue(.sample(key: "cat"), .sample(key: "cat"), .sample(key: "cat"))
        try await bench.working { _ in
            for id in ids {
                let job = try await bench.ended(id)
                #expect(job.error?.code == .sourceNotFound)
            }
        }
        #expect(bench.tasks.count == 1)
    }

    @Test func `A fresh result is reused by later jobs, and a stale one is revalidated`() async throws {
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        let bench = try await WorkerBench { task, number, output in
            switch number {
            case 1: task.prepared(in: output, "meow", .passed, SourceFreshness(validators: known))
            case 2: .unchanged(SourceFreshness(validators: known, freshUntil: .now + 3_600))
            default: task.rejected(.internal)
            }
        }
        try await bench.working { _ in
            for (kind, tasks) in [("none", 1), ("unchanged", 2), ("fresh", 2)] {
                let id = try await bench.enqueue(.sample(key: "cat"))[0]
                #expect(try await bench.ended(id).state == .succeeded, "\(kind)")
                #expect(bench.tasks.count == tasks, "\(kind)")
                if kind != "none" { #expect(bench.metrics.value("results_reused_total{kind=\(kind)}") == 1) }
            }
        }
        #expect(bench.tasks.map(\.validators) == [nil, known])
        #expect(try await bench.store.list(JobFilter(), after: nil, limit: 9).jobs.compactMap(\.media).count == 3)
    }
}

/// Results whose files were published to other storage.
@Suite(.timeLimit(.minutes(2))) struct PublishedResultTests {
    /// Reports a URL as published without publishing the file.
    private final class Publisher: JobPreparing {
        static let url = "https://bucket.example/push/cat/attachment.jpg"
        let output: String
        private let state = Mutex((prepared: 0, isPublished: true))

        init(output: String) {
            self.output = output
        }

        var count: Int { state.withLock { $0.prepared } }
        var statistics: PreparerStatistics { PreparerStatistics() }
        var keepsFolders: Bool { false }

        /// Removes the published file, like a lifecycle rule.
        func remove() { state.withLock { $0.isPublished = false } }

        func isStillPublished(_ manifest: Manifest) async -> Bool {
            state.withLock { $0.isPublished && manifest.attachment?.url == Self.url }
        }

        func prepare(_ task: PreparationTask) async -> PreparationResult {
            state.withLock { $0.prepared += 1 }
            let freshness = SourceFreshness(freshUntil: .now.addingTimeInterval(3_600))
            guard case .ended(var manifest, _) = task.prepared(in: output, "meow", .passed, freshness) else {
                preconditionFailure("it always ends")
            }
            try? FileManager.default.removeItem(atPath: "\(output)/\(task.folder ?? manifest.id)")
            manifest.attachment?.url = Self.url
            return .ended(manifest, freshness)
        }
    }

    private func bench() async throws -> WorkerBench {
        try await WorkerBench({ $0.baseURL = "https://service.example" }, preparer: { Publisher(output: $0) })
    }

    @Test func `A published result keeps its URLs for callers and webhooks`() async throws {
        let bench = try await bench()
        var submission = JobSubmission.sample(id: "cat")
        submission.request.jobOptions.callbackURL = "https://hooks.example/a"
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .succeeded)
        #expect(job.located(at: "https://service.example").result?.attachment?.url == Publisher.url)
        #expect(try await bench.webhooks().first?.notice.body.contains(Publisher.url) == true)
        let media = try #require(job.media)
        #expect(try await bench.store.file("attachment.jpg", of: media) == nil)
        #expect(try await bench.store.mediaBytes() == 0)
    }

    @Test func `A published result is reused while it exists, and prepared again when it does not`() async throws {
        let bench = try await bench()
        let publisher = try #require(bench.preparer as? Publisher)
        try await bench.working { _ in
            for _ in 1...2 { try await bench.ended(try await bench.enqueue(.sample(key: "cat"))[0]) }
            #expect(publisher.count == 1)
            publisher.remove()
            let job = try await bench.ended(try await bench.enqueue(.sample(key: "cat"))[0])
            #expect(publisher.count == 2 && job.result?.attachment?.url == Publisher.url)
        }
    }
}
