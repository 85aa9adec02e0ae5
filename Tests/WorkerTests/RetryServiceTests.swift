import Foundation
import TestSupport
import Testing

/// Retries, snoozing and running now, with the real service and command.
@Suite(.timeLimit(.minutes(3))) struct RetryServiceTests {
    let bench: ServiceBench
    let origin: LoopbackServer

    init() async throws {
        (bench, origin) = (try ServiceBench(), try LoopbackServer())
    }

    /// Serves an image after a number of responses with a status.
    private func serve(_ path: String, _ status: Int, times: Int) throws -> String {
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve(path) { $0.number <= times ? .status(status) : .body(image, type: "image/jpeg") }
        return origin.url(path)
    }

    private static let soon = #""backOff": 0.1, "backOffMax": 0.2"#

    @Test func `An origin that is busy beyond a fast policy is waited for by a patient one`() async throws {
        let service = try await bench.start()
        // Each attempt makes four requests.
        let (fast, patient) = (try serve("/fast.jpg", 503, times: 24), try serve("/patient.jpg", 503, times: 24))
        let ids = try await service.client.submit(lines: [
            #"{"source": "\#(fast)", "retry": {"policy": "fast", \#(Self.soon)}}"#,
            #"{"source": "\#(patient)", "retry": {"policy": "patient", \#(Self.soon)}}"#,
        ])
        let jobs = [try await service.client.ended(ids[0]), try await service.client.ended(ids[1])]
        #expect(jobs[0].state == "dead" && jobs[0].attempts == 5, "\(jobs[0].json)")
        #expect(jobs[1].state == "succeeded" && jobs[1].attempts == 7, "\(jobs[1].json)")
        try await service.stop()
    }

    @Test func `Media that is not there yet is waited for when the job says so`() async throws {
        let service = try await bench.start()
        let cases = [
            ("/final.jpg", 404, #""fast""#, "failed"),
            ("/default.jpg", 404, #"{"policy": "patient", \#(Self.soon)}"#, "succeeded"),
            ("/unlisted.jpg", 403, #"{"policy": "patient", \#(Self.soon)}"#, "failed"),
            ("/listed.jpg", 403, #"{"notThereYet": [403, 404], \#(Self.soon)}"#, "succeeded"),
            ("/gone.jpg", 410, #"{"notThereYet": [410], \#(Self.soon)}"#, "succeeded"),
        ]
        for (path, status, retry, state) in cases {
            let source = try serve(path, status, times: 3)
            let id = try await service.client.submit(#"{"source": "\#(source)", "retry": \#(retry)}"#)
            let job = try await service.client.ended(id)
            #expect(job.state == state, "\(path): \(job.json)")
        }
        try await service.stop()
    }

    @Test func `A file that is empty while it is uploaded is waited for`() async throws {
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/new.jpg", inTurn: [.body(Data()), .body(Data()), .body(image, type: "image/jpeg")])
        let service = try await bench.start()
        let id = try await service.client.submit(
            #"{"source": "\#(origin.url("/new.jpg"))", "retry": {"policy": "patient", \#(Self.soon)}}"#)
        #expect(try await service.client.ended(id).state == "succeeded")
        try await service.stop()
    }

    @Test func `The service's policy is that of jobs that name none`() async throws {
        let service = try await bench.start(["--retry", #"{"policy": "patient", \#(Self.soon), "attempts": 9}"#])
        let id = try await service.client.submit(#"{"source": "\#(try serve("/new.jpg", 404, times: 7))"}"#)
        let job = try await service.client.ended(id)
        #expect(job.state == "succeeded" && job.attempts == 8, "\(job.json)")
        try await service.stop()
    }

    @Test(arguments: ["slow", #"{"policy": "slow"}"#, #"{"until": "2030-01-01T00:00:00Z"}"#, "{"])
    func `An invalid policy of the service is refused at the start`(text: String) async throws {
        let result = try await bench.command(["serve", "--port", "0", "--retry", text], timeoutSeconds: 30).run()
        #expect(result.exitCode == 2 && result.errorText.contains("for --retry."), "\(result.errorText)")
    }

    @Test func `No attempt begins after until`() async throws {
        let service = try await bench.start()
        let until = ISO8601DateFormatter().string(from: .now + 2)
        let id = try await service.client.submit(
            #"{"source": "\#(try serve("/a.jpg", 404, times: .max))", "retry": {"policy": "patient", \#(Self.soon), "#
                + #""until": "\#(until)"}}"#)
        let job = try await service.client.ended(id)
        #expect(job.state == "dead" && job.errorCode == "source.not_found", "\(job.json)")
        try await service.stop()
    }

    @Test func `A queued job is snoozed, and runs when it is told to`() async throws {
        let service = try await bench.start()
        let source = try ServiceBench.url("grid.jpg")
        let start = ISO8601DateFormatter().string(from: .now + 3_600)
        let id = try await service.client.submit(#"{"source": "\#(source)", "notBefore": "\#(start)"}"#)
        let later = try await bench.command(["jobs", "snooze", id, "--for", "2h", "--url", service.url]).run()
        #expect(later.exitCode == 0 && later.text.contains("\(id) queued, not before"), "\(later.text)")
        let snoozed = try await service.client.job(id).json["request"] as? [String: Any]
        #expect(snoozed?["notBefore"] as? String != start)
        let shown = try await bench.command(["jobs", "show", id, "--url", service.url]).run()
        #expect(shown.text.contains("not before"), "\(shown.text)")
        let now = try await bench.command(["jobs", "run", id, "--url", service.url]).run()
        #expect(now.exitCode == 0, "\(now.errorText)")
        #expect(try await service.client.ended(id).state == "succeeded")
        let ended = try await bench.command(["jobs", "run", id, "--url", service.url]).run()
        #expect(ended.exitCode == 1 && ended.errorText.contains("succeeded"), "\(ended.errorText)")
        let invalid = try await service.client.send("POST", "/v1/jobs/\(id)/snooze", body: #"{"notBefore": "soon"}"#)
        #expect(invalid.status == 400, "\(invalid.text)")
        try await service.stop()
    }
}
