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

    enum Restart: CaseIterable {
        case sqliteStopped, sqliteKilled, postgresStopped

        var signal: CInt { self == .sqliteKilled ? SIGKILL : SIGTERM }
    }

    @Test(arguments: Restart.allCases)
    func `What was rendered while the bucket was away is published after a restart, without a second download`(
        restart: Restart
    ) async throws {
        let shared = restart == .postgresStopped ? try await SharedQueueBench(try await PostgresServer.start()) : nil
        let (bench, store) = (try shared?.bench ?? ServiceBench(), try await ObjectStore.shared())
        let relay = try InterruptedRelay(toPort: try #require(URL(string: store.url)?.port))
        let origin = try LoopbackServer()
        let own = shared?.environment ?? store.environment.mapValues { Optional($0) }
        let environment = own.merging([
            "AWS_ENDPOINT_URL_S3": relay.url, "ATTACHPREP_DATA": bench.state,
            "ATTACHPREP_PUBLISH": "s3://media/restart-\(UUID().uuidString)",
        ]) { $1 }
        let first = try await bench.start(["--concurrency", "3"], environment: environment)
        try await first.untilReady()
        relay.setAway(true)
        _ = try await first.client.submit(lines: try lines(0..<5, from: origin))
        try await pollUntil("three results wait") {
            try await first.client.get("/metrics").text.contains("attachprep_results_held 3\n")
        }
        first.running.send(restart.signal)
        _ = try await first.running.result()
        relay.setAway(false)
        let second = try await bench.start(["--concurrency", "3"], environment: environment)
        try await second.client.allEnded(seconds: 90)
        let jobs = try await second.client.jobs()
        #expect(jobs.count == 5 && jobs.allSatisfy { $0.state == "succeeded" }, "\(jobs.map(\.json))")
        #expect(origin.requests.count == 5)
        try await second.stop()
        #expect(try bench.leftovers() == [])
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
