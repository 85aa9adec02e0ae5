import Foundation
import TestSupport
import Testing

/// A crash of the service fails only the job that caused it (issue 18).
///
/// An environment variable of debug builds causes the crash; the tests restart the service as systemd would.
@Suite(.timeLimit(.minutes(5))) struct CrashedServiceTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Without backtraces, which take seconds.
    private let environment: [String: String?] = [
        "ATTACHPREP_TEST_TRAP": "culprit", "SWIFT_BACKTRACE": "enable=no",
    ]

    private func start(_ options: [String] = []) async throws -> RunningService {
        try await bench.start(["--per-host", "64"] + options, environment: environment)
    }

    /// Serves `/a.jpg` and others from the moment at which the gate opens.
    private func serve(_ paths: [String], at origin: LoopbackServer, after gate: LoopbackGate) throws {
        let body = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        for path in paths {
            let response = LoopbackResponse.body(body, type: "image/jpeg")
            origin.serve(path, LoopbackResponse([.wait(gate)] + response.steps))
        }
    }

    /// The ID of the job that crashes the service.
    private func crashingJob(of service: RunningService) async throws -> String {
        let job = try await service.client.jobs().first { "\($0.json)".contains("culprit") }
        return try #require(job?.json["id"] as? String)
    }

    /// Waits for the crash of the service.
    ///
    /// - Returns: Its log.
    private func crashed(_ service: RunningService) async throws -> String {
        let result = try await service.running.result()
        #expect(result.exitCode == 128 + SIGILL, "\(result.errorText)")
        return result.errorText
    }

    /// Changes the database of the stopped service.
    private func alter(_ sql: String) async throws {
        let script = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit()"
        let result = try await RunCommand("python3", ["-c", script, "\(bench.state)/jobs.sqlite", sql]).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
    }

    @Test func `A job that loses ten workers is dead, and 20 jobs that were in flight with it succeed`() async throws {
        let (origin, gate) = (try LoopbackServer(), LoopbackGate())
        try serve((0..<20).map { "/\($0).jpg" }, at: origin, after: gate)

        let first = try await start()
        let others = try await first.client.submit(
            lines: (0..<20).map { #"{"source": "\#(origin.url("/\($0).jpg"))"}"# })
        try await waitUntil("all 20 jobs are in flight", seconds: 30) { origin.requests.count == 20 }
        // The service may crash before the response.
        let source = origin.url("/culprit.jpg")
        _ = try? await first.client.send("POST", "/v1/jobs", body: #"{"source": "\#(source)"}"#)
        _ = try await crashed(first)
        gate.open()

        // It is retried after about 1 s, then 4 s.
        let second = try await start()
        let crashing = try await crashingJob(of: second)
        let log = try await crashed(second)
        #expect(log.contains(crashing) && log.contains("the previous process was lost with this job"), "\(log)")
        let third = try await start()
        _ = try await crashed(third)

        // Ten losses take 20 minutes, so the others are made up.
        try await alter("UPDATE job SET losses = 9 WHERE id = '\(crashing)'")
        let service = try await start()
        let dead = try await service.client.ended(crashing)
        #expect(dead.state == "dead" && dead.errorCode == "job.worker_lost", "\(dead.json)")
        for id in others {
            let job = try await service.client.ended(id)
            #expect(job.state == "succeeded", "\(job.json)")
        }

        // The same source within an hour is dead without another crash.
        let again = try await service.client.submit(#"{"source": "\#(source)"}"#)
        let rejected = try await service.client.ended(again)
        #expect(rejected.state == "dead" && rejected.errorCode == "job.worker_lost", "\(rejected.json)")
        #expect(try await service.stop().exitCode == 0)
    }

    @Test func `A job that was in flight at a graceful stop counts no loss`() async throws {
        let (origin, gate) = (try LoopbackServer(), LoopbackGate())
        try serve(["/a.jpg"], at: origin, after: gate)
        let service = try await start(["--drain", "0s"])
        let id = try await service.client.submit(#"{"source": "\#(origin.url("/a.jpg"))"}"#)
        try await waitUntil("the job is in flight", seconds: 30) { origin.requests.count == 1 }
        #expect(try await service.stop().exitCode == 0)
        gate.open()
        let next = try await start()
        let job = try await next.client.ended(id)
        #expect(job.state == "succeeded" && job.json["attempts"] as? Int == 1, "\(job.json)")
        let log = try await next.stop().errorText
        #expect(!log.contains("losses") && !log.contains("was lost"), "\(log)")
    }
}
