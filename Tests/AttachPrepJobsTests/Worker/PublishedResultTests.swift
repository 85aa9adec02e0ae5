import AttachPrep
import Foundation
import RichPush
import Synchronization
import Testing

@testable import AttachPrepJobs

/// What a worker does with results whose files were published elsewhere.
@Suite(.timeLimit(.minutes(2))) struct PublishedResultTests {
    /// Publishes nothing, and says where it did.
    private final class Publisher: JobPreparing {
        static let url = "https://bucket.example/push/cat/attachment.jpg"
        let output: String
        private let state = Mutex((carriedOut: 0, isThere: true))

        init(output: String) {
            self.output = output
        }

        var count: Int { state.withLock { $0.carriedOut } }
        var statistics: PreparerStatistics { PreparerStatistics() }
        var keepsFolders: Bool { false }

        /// As a lifecycle rule does.
        func remove() { state.withLock { $0.isThere = false } }

        func stands(_ manifest: Manifest) async -> Bool {
            state.withLock { $0.isThere && manifest.attachment?.url == Self.url }
        }

        func prepare(_ order: PreparationTask) async -> PreparationResult {
            state.withLock { $0.carriedOut += 1 }
            let freshness = SourceFreshness(freshUntil: .now.addingTimeInterval(3_600))
            guard case .ended(var manifest, _) = order.prepared(in: output, "meow", .passed, freshness) else {
                preconditionFailure("it always ends")
            }
            try? FileManager.default.removeItem(atPath: "\(output)/\(order.folder ?? manifest.id)")
            manifest.attachment?.url = Self.url
            return .ended(manifest, freshness)
        }
    }

    private func bench() async throws -> WorkerBench {
        try await WorkerBench({ $0.baseURL = "https://service.example" }, preparer: { Publisher(output: $0) })
    }

    @Test func `A result keeps the addresses that it has there, for callers and webhooks`() async throws {
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

    @Test func `It is used again while it stands, and made anew when it does not`() async throws {
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
