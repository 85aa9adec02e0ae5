import Foundation
import TestSupport
import Testing

/// A crash of the service costs the job that is to blame, and no other one (issue 18).
///
/// The fault is put back by a variable that debug builds look at; the test starts the service again as systemd would.
@Suite(.timeLimit(.minutes(5))) struct CrashedServiceTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Backtraces take seconds; one test of those below leaves them on.
    private let environment: [String: String?] = [
        "ATTACHPREP_TEST_TRAP": "culprit", "SWIFT_BACKTRACE": "enable=no",
    ]

    private func start() async throws -> RunningService {
        try await bench.start(["--per-host", "64"], environment: environment)
    }

    /// Starts the service until it stays up until no job waits or runs.
    ///
    /// - Returns: what each start but the first has logged.
    private func startUntilDone(crashesMax: Int) async throws -> (service: RunningService, logs: [String]) {
        var logs: [String] = []
        for _ in 0...crashesMax {
            let service = try await start()
            let isUp: @Sendable () -> Bool = { ProcessFacts(processID: service.running.processID).isRunning }
            try await askUntil("all jobs ended, or it crashed", seconds: 60) {
                guard isUp() else { return true }
                let page = try? await service.client.get("/v1/jobs?state=queued,running&limit=1").json()
                return (page?["jobs"] as? [Any])?.isEmpty == true
            }
            if isUp() { return (service, logs + [try service.running.errorTextSoFar()]) }
            let result = try await service.running.result()
            #expect(result.exitCode == 128 + SIGILL, "\(result.errorText)")
            logs.append(result.errorText)
        }
        Issue.record("it crashed more than \(crashesMax) times")
        throw CancellationError()
    }

    /// Submits the source that crashes the process, perhaps before it has answered.
    private func submitCulprit(_ source: String, to service: RunningService) async {
        _ = try? await service.client.send("POST", "/v1/jobs", body: #"{"source": "\#(source)"}"#)
    }

    /// The id of that source's job.
    private func culprit(_ service: RunningService) async throws -> String {
        let job = try await service.client.jobs().first { "\($0.json)".contains("culprit") }
        return try #require(job?.json["id"] as? String)
    }

    @Test func `After three crashes the culprit is dead, and the twenty jobs beside it succeed`() async throws {
        let (origin, gate) = (try LoopbackServer(), LoopbackGate())
        let body = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        for number in 0..<20 {
            let answer = LoopbackAnswer.body(body, type: "image/jpeg")
            origin.serve("/\(number).jpg", LoopbackAnswer([.wait(gate)] + answer.steps))
        }
        origin.serve("/culprit.jpg", .body(body, type: "image/jpeg"))

        let first = try await start()
        let innocent = try await first.client.submit(
            lines: (0..<20).map { #"{"source": "\#(origin.url("/\($0).jpg"))"}"# })
        try await waitUntil("all of them are in flight", seconds: 30) { origin.requests.count == 20 }
        await submitCulprit(origin.url("/culprit.jpg"), to: first)
        let crash = try await first.running.result()
        #expect(crash.exitCode == 128 + SIGILL, "\(crash.errorText)")
        gate.open()

        let (service, logs) = try await startUntilDone(crashesMax: 2)
        let culprit = try await culprit(service)
        #expect(logs.count == 3, "it crashed \(logs.count) times in all")
        for log in logs {
            let lines = log.split(separator: "\n").filter { $0.contains(culprit) && $0.contains("\"crashes\"") }
            #expect(!lines.isEmpty, "the next start names the job: \(log)")
        }
        let dead = try await service.client.job(culprit)
        #expect(dead.state == "dead" && dead.errorCode == "job.crashed_service", "\(dead.json)")
        for id in innocent {
            let job = try await service.client.job(id)
            #expect(job.state == "succeeded", "\(job.json)")
        }

        // Who sends the same within the hour crashes nothing.
        let again = try await service.client.submit(#"{"source": "\#(origin.url("/culprit.jpg"))"}"#)
        let refused = try await service.client.ended(again)
        #expect(refused.state == "dead" && refused.errorCode == "job.crashed_service", "\(refused.json)")
        #expect(try await service.stop().exitCode == 0)
        #expect(try bench.folder.bytes(of: "state/run").starts(with: Array("ended".utf8)))
    }

    @Test func `Swift's own backtrace is printed as ever, and the process ends by its signal`() async throws {
        let service = try await bench.start(environment: ["ATTACHPREP_TEST_TRAP": "culprit"])
        await submitCulprit("http://127.0.0.1:9/culprit.jpg", to: service)
        let crash = try await service.running.result()
        #expect(crash.exitCode == 128 + SIGILL)
        #expect(crash.errorText.contains("arithmetic overflow"), "\(crash.errorText)")
        #expect(try bench.folder.bytes(of: "state/run").starts(with: Array("crashed 04".utf8)))
        let next = try await bench.start()
        let id = try await culprit(next)
        #expect(try await next.stop().errorText.contains(id))
    }

    @Test(arguments: [SIGABRT, SIGSEGV])
    func `A fatal signal that somebody else sent is no crash`(_ signal: Int32) async throws {
        let (origin, gate) = (try LoopbackServer(), LoopbackGate())
        let body = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/a.jpg", LoopbackAnswer([.wait(gate)] + LoopbackAnswer.body(body, type: "image/jpeg").steps))
        let service = try await start()
        let id = try await service.client.submit(#"{"source": "\#(origin.url("/a.jpg"))"}"#)
        try await waitUntil("it is in flight", seconds: 30) { origin.requests.count == 1 }
        service.running.send(signal)
        #expect(try await service.running.result().exitCode == 128 + signal)
        #expect(try bench.folder.bytes(of: "state/run").starts(with: Array("running".utf8)))
        gate.open()
        let next = try await start()
        #expect(try await next.client.ended(id).state == "succeeded")
        #expect(try await !next.stop().errorText.contains("crashes"))
    }
}
