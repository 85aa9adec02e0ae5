import Foundation
import TestSupport
import Testing

/// `attachprep jobs` and `attachprep webhooks`, on a data folder and on a running service.
@Suite(.timeLimit(.minutes(3))) struct JobsCommandTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Where the command finds the jobs.
    private enum Place: CaseIterable {
        case service
        case folder
    }

    private func run(_ words: [String], _ place: Place, _ service: RunningService) async throws -> CommandResult {
        let more = place == .service ? ["--url", service.url] : []
        return try await bench.command(words + more).run()
    }

    /// A service with one job of each end.
    private func start() async throws -> (RunningService, succeeded: String, failed: String, waiting: String) {
        let service = try await bench.start()
        let succeeded = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.jpg"))", "id": "cat"}"#)
        let failed = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#)
        let waiting = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.png"))", "notBefore": "2099-01-01T00:00:00Z"}"#)
        _ = try await service.client.ended(succeeded)
        _ = try await service.client.ended(failed)
        return (service, succeeded, failed, waiting)
    }

    @Test(arguments: Place.allCases) private func `Jobs are listed and chosen`(place: Place) async throws {
        let (service, succeeded, failed, waiting) = try await start()
        let all = try await run(["jobs", "list"], place, service)
        #expect(all.lines.count == 4 && all.lines.first?.hasPrefix("job ") == true, "\(all.text)\(all.errorText)")
        #expect(all.lines.dropFirst().first?.hasPrefix(waiting) == true)
        #expect(all.lines.contains { $0.hasPrefix(succeeded) && $0.contains("  cat  ") }, "\(all.text)")
        let some = try await run(["jobs", "list", "--status", "failed", "--format", "json"], place, service)
        let job = try JobFacts(
            try #require(try JSONSerialization.jsonObject(with: Data(some.text.utf8)) as? [String: Any]))
        #expect(job.id == failed && job.errorCode == "media.corrupt")
        let found = try await run(["jobs", "list", "--search", "grid.jpg"], place, service)
        #expect(found.lines.count == 2 && found.lines[1].hasPrefix(succeeded))
        try await service.stop()
    }

    @Test(arguments: Place.allCases) private func `A job is shown with its log`(place: Place) async throws {
        let (service, succeeded, _, _) = try await start()
        try await askUntil("its log is kept") {
            try await service.client.get("/v1/jobs/\(succeeded)/log").text.contains("text")
        }
        let shown = try await run(["jobs", "show", succeeded], place, service)
        #expect(shown.exitCode == 0 && shown.text.contains("succeeded") && shown.text.contains("public.jpeg"))
        #expect(shown.lines.contains { $0.hasPrefix("id ") && $0.hasSuffix(" cat") }, "\(shown.text)")
        #expect(shown.lines.contains { $0.hasPrefix("log ") }, "\(shown.text)")
        try await service.stop()
    }

    @Test(arguments: Place.allCases) private func `Jobs are cancelled, retried and purged`(place: Place) async throws {
        let (service, succeeded, failed, waiting) = try await start()
        #expect(try await run(["jobs", "cancel", waiting], place, service).exitCode == 0)
        #expect(try await service.client.job(waiting).state == "cancelled")
        #expect(try await run(["jobs", "cancel", succeeded], place, service).exitCode == 1)
        #expect(try await run(["jobs", "retry", failed], place, service).exitCode == 0)
        #expect(try await service.client.ended(failed).state == "failed")
        let purged = try await run(["jobs", "purge", "--status", "cancelled", "--status", "failed"], place, service)
        #expect(purged.text == "2 purged.\n", "\(purged.text)\(purged.errorText)")
        #expect(try await service.client.jobs().map(\.id) == [succeeded])
        #expect(try await run(["jobs", "show", failed], place, service).exitCode == 1)
        let none = try await run(["jobs", "purge", "--status", "succeeded", "--search", "nothing"], place, service)
        #expect(none.text == "0 purged.\n", "\(none.errorText)")
        try await service.stop()
    }

    @Test func `Without a database the command says where it looked`() async throws {
        let result = try await bench.command(["jobs", "list"]).run()
        #expect(result.exitCode == 1 && result.errorText.contains(bench.state), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: bench.state))
    }

    @Test func `A token opens a service that wants one, and a new one does without a restart`() async throws {
        let tokens = try bench.folder.write("an-old-token-of-ours\n", to: "tokens")
        let service = try await bench.start(["--token-file", tokens])
        #expect(try await bench.command(["jobs", "list", "--url", service.url]).run().exitCode == 1)
        let words = ["jobs", "list", "--url", service.url, "--token-file", tokens]
        #expect(try await bench.command(words).run().exitCode == 0)
        try bench.folder.write("a-new-token-of-ours-\n", to: "tokens")
        service.running.send(SIGHUP)
        try await askUntil("the new token counts") { try await bench.command(words).run().exitCode == 0 }
        var client = service.client
        client.token = "an-old-token-of-ours"
        #expect(try await client.get("/v1/jobs").status == 401)
        try await service.stop()
    }

    @Test(arguments: Place.allCases) private func `Webhooks are listed, and replayed under the same id`(place: Place)
        async throws
    {
        let receiver = try LoopbackServer()
        receiver.serve("/hook", .status(204))
        let secret = "whsec_" + Data((0..<32).map { UInt8($0) }).base64EncodedString()
        let service = try await bench.start(environment: ["ATTACHPREP_WEBHOOK_SECRETS": secret])
        let source = try ServiceBench.url("grid.jpg")
        _ = try await service.client.submit(
            #"{"source": "\#(source)", "callbackURL": "\#(receiver.url("/hook"))"}"#)
        await receiver.until { $0.requests.count == 1 }
        try await askUntil("it is noted") {
            try await run(["webhooks", "list"], place, service).text.contains("delivered")
        }
        let listed = try await run(["webhooks", "list", "--format", "json"], place, service)
        let row = try JSONSerialization.jsonObject(with: Data(listed.text.utf8)) as? [String: Any]
        let id = try #require(row?["id"] as? String)
        let replayed = try await run(["webhooks", "replay", id], place, service)
        #expect(replayed.exitCode == 0, "\(replayed.errorText)")
        await receiver.until { $0.requests.count == 2 }
        #expect(receiver.requests.map { $0.headers["webhook-id"] } == [id, id])
        try await service.stop()
    }
}
