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

    /// Without backtraces, which take seconds; one test enables them.
    private let environment: [String: String?] = [
        "ATTACHPREP_TEST_TRAP": "culprit", "SWIFT_BACKTRACE": "enable=no",
    ]

    private func start() async throws -> RunningService {
        try await bench.start(["--per-host", "64"], environment: environment)
    }

    /// Restarts the service after each crash, until no job is queued or running.
    ///
    /// - Returns: the running service, and the log of each of these starts.
    private func startUntilDone(crashesMax: Int) async throws -> (service: RunningService, logs: [String]) {
        var logs: [String] = []
        for _ in 0...crashesMax {
            let service = try await start()
            let isUp: @Sendable () -> Bool = { ProcessStatus(processID: service.running.processID).isRunning }
            try await pollUntil("all jobs ended, or the service crashed", seconds: 60) {
                guard isUp() else { return true }
                let page = try? await service.client.get("/v1/jobs?state=queued,running&limit=1").json()
                return (page?["jobs"] as? [Any])?.isEmpty == true
            }
            if isUp() { return (service, logs + [try service.running.errorTextSoFar()]) }
            let result = try await service.running.result()
            #expect(result.exitCode == 128 + SIGILL, "\(result.errorText)")
            logs.append(result.errorText)
        }
        Issue.record("the service crashed more than \(crashesMax) times")
        throw CancellationError()
    }

    /// Submits the source that crashes the service, possibly before the response.
    private func submitCrashingSource(_ source: String, to service: RunningService) async {
        _ = try? await service.client.send("POST", "/v1/jobs", body: #"{"source": "\#(source)"}"#)
    }

    /// The ID of that source's job.
    private func crashingJob(of service: RunningService) async throws -> String {
        let job = try await service.client.jobs().first { "\($0.json)".contains("culprit") }
        return try #require(job?.json["id"] as? String)
    }

    @Test func `After three crashes, the job that caused them is dead and 20 concurrent jobs succeed`() async throws {
        let (origin, gate) = (try LoopbackServer(), LoopbackGate())
        let body = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        for number in 0..<20 {
            let response = LoopbackResponse.body(body, type: "image/jpeg")
            origin.serve("/\(number).jpg", LoopbackResponse([.wait(gate)] + response.steps))
        }
        origin.serve("/culprit.jpg", .body(body, type: "image/jpeg"))

        let first = try await start()
        let others = try await first.client.submit(
            lines: (0..<20).map { #"{"source": "\#(origin.url("/\($0).jpg"))"}"# })
        try await waitUntil("all 20 jobs are in flight", seconds: 30) { origin.requests.count == 20 }
        await submitCrashingSource(origin.url("/culprit.jpg"), to: first)
        let crash = try await first.running.result()
        #expect(crash.exitCode == 128 + SIGILL, "\(crash.errorText)")
        gate.open()

        let (service, logs) = try await startUntilDone(crashesMax: 2)
        let crashing = try await crashingJob(of: service)
        #expect(logs.count == 3, "the service crashed \(logs.count) times in all")
        for log in logs {
            let lines = log.split(separator: "\n").filter { $0.contains(crashing) && $0.contains("\"crashes\"") }
            #expect(!lines.isEmpty, "the next start names the job: \(log)")
        }
        let dead = try await service.client.job(crashing)
        #expect(dead.state == "dead" && dead.errorCode == "job.crashed_service", "\(dead.json)")
        for id in others {
            let job = try await service.client.job(id)
            #expect(job.state == "succeeded", "\(job.json)")
        }

        // The same source within an hour is dead without another crash.
        let again = try await service.client.submit(#"{"source": "\#(origin.url("/culprit.jpg"))"}"#)
        let rejected = try await service.client.ended(again)
        #expect(rejected.state == "dead" && rejected.errorCode == "job.crashed_service", "\(rejected.json)")
        #expect(try await service.stop().exitCode == 0)
        #expect(try bench.folder.bytes(of: "state/run").starts(with: Array("ended".utf8)))
    }

    @Test func `After a crash, Swift prints its backtrace and the process ends with the signal`() async throws {
        let service = try await bench.start(environment: ["ATTACHPREP_TEST_TRAP": "culprit"])
        await submitCrashingSource("http://127.0.0.1:9/culprit.jpg", to: service)
        let crash = try await service.running.result()
        #expect(crash.exitCode == 128 + SIGILL)
        #expect(crash.errorText.contains("arithmetic overflow"), "\(crash.errorText)")
        #expect(try bench.folder.bytes(of: "state/run").starts(with: Array("crashed 04".utf8)))
        let next = try await bench.start()
        let id = try await crashingJob(of: next)
        #expect(try await next.stop().errorText.contains(id))
    }

    @Test(arguments: [SIGABRT, SIGSEGV])
    func `A fatal signal sent by another process does not count as a crash`(_ signal: Int32) async throws {
        let (origin, gate) = (try LoopbackServer(), LoopbackGate())
        let body = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/a.jpg", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(body, type: "image/jpeg").steps))
        let service = try await start()
        let id = try await service.client.submit(#"{"source": "\#(origin.url("/a.jpg"))"}"#)
        try await waitUntil("the job is in flight", seconds: 30) { origin.requests.count == 1 }
        service.running.send(signal)
        #expect(try await service.running.result().exitCode == 128 + signal)
        #expect(try bench.folder.bytes(of: "state/run").starts(with: Array("running".utf8)))
        gate.open()
        let next = try await start()
        #expect(try await next.client.ended(id).state == "succeeded")
        #expect(try await !next.stop().errorText.contains("crashes"))
    }
}
