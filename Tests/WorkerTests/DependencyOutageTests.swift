import Foundation
import TestSupport
import Testing

/// The real service while its bucket or its database is away: jobs wait, and no attempt is used.
@Suite(.timeLimit(.minutes(4))) struct DependencyOutageTests {
    /// Request lines for a number of images of an origin, each with a path of its own.
    private func lines(_ numbers: Range<Int>, from origin: LoopbackServer) throws -> [String] {
        let body = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        return numbers.map { number in
            origin.serve("/\(number)/grid.jpg", .body(body, type: "image/jpeg"))
            return #"{"source": "\#(origin.url("/\(number)/grid.jpg"))"}"#
        }
    }

    private func expectNoAttemptUsed(_ service: RunningService, count: Int) async throws {
        let jobs = try await service.client.jobs()
        let others = jobs.filter { $0.state != "succeeded" || $0.attempts != 1 }
        #expect(jobs.count == count && others.isEmpty, "\(others.prefix(3).map(\.json))")
    }

    @Test func `Jobs wait for a bucket that is away, and what is rendered is published without a second download`()
        async throws
    {
        let (bench, store) = (try ServiceBench(), try await ObjectStore.shared())
        let relay = try InterruptedRelay(toPort: try #require(URL(string: store.url)?.port))
        let origin = try LoopbackServer()
        let environment = store.environment.merging([
            "AWS_ENDPOINT_URL_S3": relay.url, "ATTACHPREP_PUBLISH": "s3://media/away-\(UUID().uuidString)",
        ]) { $1 }
        let service = try await bench.start(
            ["--concurrency", "6"], environment: environment.mapValues { Optional($0) })
        try await service.untilReady()
        _ = try await service.client.submit(lines: try lines(0..<10, from: origin))
        try await pollUntil("some jobs have ended") {
            try await service.client.jobs(state: "succeeded").count > 2
        }
        relay.setAway(true)
        _ = try await service.client.submit(lines: try lines(10..<30, from: origin))
        try await pollUntil("the outage is reported") {
            let ready = try await service.client.get("/readyz")
            return ready.status == 503 && relay.refusedCount > 1
        }
        let metrics = try await service.client.get("/metrics").text
        #expect(metrics.contains(#"attachprep_dependency_up{dependency="bucket"} 0"#), "\(metrics)")
        let ready = try await service.client.get("/readyz").text
        #expect(ready.contains("Jobs wait for the bucket"), "\(ready)")
        try await pollUntil("results wait") {
            let text = try await service.client.get("/metrics").text
            return text.contains("attachprep_results_held 6")
        }
        relay.setAway(false)
        try await service.client.allEnded(seconds: 120)
        try await expectNoAttemptUsed(service, count: 30)
        #expect(origin.requests.count == 30)
        try await service.untilReady()
        try await service.stop()
    }

    @Test func `Jobs wait for a database that is away`() async throws {
        let shared = try await SharedQueueBench(try await PostgresServer.start())
        let origin = try LoopbackServer()
        let front = try await shared.start("serve", ["--accept-only"])
        let worker = try await shared.start("worker", ["--concurrency", "4"])
        _ = try await front.client.submit(lines: try lines(0..<40, from: origin))
        await origin.until { $0.requests.count > 5 }
        try await shared.server.kill()
        try await pollUntil("the outage is reported") {
            let (one, other) = (try await worker.client.get("/readyz"), try await front.client.get("/readyz"))
            return one.status == 503 && other.status == 503
        }
        let metrics = try await worker.client.get("/metrics").text
        #expect(metrics.contains(#"attachprep_dependency_up{dependency="database"} 0"#), "\(metrics)")
        try await shared.server.startAgain()
        try await front.client.allEnded(seconds: 120)
        let jobs = try await front.client.jobs()
        #expect(jobs.count == 40 && jobs.allSatisfy { $0.state == "succeeded" }, "\(jobs.map(\.state))")
        for process in [worker, front] { try await process.stop() }
    }

    @Test func `A job that waits for a missing bucket ends at its notAfter`() async throws {
        let (bench, store) = (try ServiceBench(), try await ObjectStore.shared())
        let environment = store.environment.merging(["ATTACHPREP_PUBLISH": "s3://nowhere"]) { $1 }
        let service = try await bench.start(environment: environment.mapValues { Optional($0) })
        let end = ISO8601DateFormatter().string(from: .now + 6)
        let id = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.jpg"))", "notAfter": "\#(end)"}"#)
        try await pollUntil("the outage is reported") {
            try await service.client.get("/readyz").text.contains("no bucket nowhere")
        }
        let job = try await service.client.ended(id)
        #expect(job.state == "failed" && job.errorCode == "deadline.not_after", "\(job.json)")
        let log = try await service.stop().errorText
        #expect(log.contains("bucket is not writable"), "\(log)")
    }
}
