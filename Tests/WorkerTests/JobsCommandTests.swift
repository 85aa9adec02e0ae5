import Foundation
import TestSupport
import Testing

/// `attachprep jobs` and `attachprep webhooks`, on a data folder and on a running service.
@Suite(.timeLimit(.minutes(3))) struct JobsCommandTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Where the command reads the jobs.
    private enum Target: CaseIterable {
        case service
        case folder
    }

    private func run(_ arguments: [String], _ target: Target, _ service: RunningService) async throws -> CommandResult {
        let more = target == .service ? ["--url", service.url] : []
        return try await bench.command(arguments + more).run()
    }

    /// A service with a succeeded, a failed and a queued job.
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

    @Test(arguments: Target.allCases)
    private func `Jobs are listed, filtered and searched`(target: Target) async throws {
        let (service, succeeded, failed, waiting) = try await start()
        let all = try await run(["jobs", "list"], target, service)
        #expect(all.lines.count == 4 && all.lines.first?.hasPrefix("job ") == true, "\(all.text)\(all.errorText)")
        #expect(all.lines.dropFirst().first?.hasPrefix(waiting) == true)
        #expect(all.lines.contains { $0.hasPrefix(succeeded) && $0.contains("  cat  ") }, "\(all.text)")
        let some = try await run(["jobs", "list", "--state", "failed", "--format", "json"], target, service)
        let job = try ServiceJob(
            try #require(try JSONSerialization.jsonObject(with: Data(some.text.utf8)) as? [String: Any]))
        #expect(job.id == failed && job.errorCode == "media.corrupt")
        let found = try await run(["jobs", "list", "--search", "grid.jpg"], target, service)
        #expect(found.lines.count == 2 && found.lines[1].hasPrefix(succeeded))
        try await service.stop()
    }

    @Test func `The worker of a service is listed with its load, and named by the jobs that it ran`() async throws {
        let (service, succeeded, _, _) = try await start()
        let shown = try await run(["jobs", "show", succeeded], .folder, service)
        let line = try #require(shown.lines.first { $0.hasPrefix("worker ") }, "\(shown.text)")
        let name = String(line.drop { $0 != " " }.drop { $0 == " " })
        let listed = try await run(["jobs", "workers"], .service, service)
        #expect(listed.lines.count == 2 && listed.lines.last?.hasPrefix(name) == true, "\(listed.text)")
        let exact = try await run(["jobs", "workers", "--format", "json"], .service, service)
        #expect(exact.text.contains(#""name":"\#(name)""#), "\(exact.text)")
        let folder = try await run(["jobs", "workers"], .folder, service)
        #expect(folder.exitCode == 1 && folder.errorText.contains("--url"), "\(folder.errorText)")
        try await service.stop()
    }

    @Test(arguments: Target.allCases)
    private func `A job is shown with its log`(target: Target) async throws {
        let (service, succeeded, _, _) = try await start()
        try await pollUntil("the log of the job is stored") {
            try await service.client.get("/v1/jobs/\(succeeded)/log").text.contains("text")
        }
        let shown = try await run(["jobs", "show", succeeded], target, service)
        #expect(shown.exitCode == 0 && shown.text.contains("succeeded") && shown.text.contains("public.jpeg"))
        #expect(shown.lines.contains { $0.hasPrefix("id ") && $0.hasSuffix(" cat") }, "\(shown.text)")
        #expect(shown.lines.contains { $0.hasPrefix("log ") }, "\(shown.text)")
        try await service.stop()
    }

    @Test(arguments: Target.allCases)
    private func `Jobs are cancelled, retried and purged`(target: Target) async throws {
        let (service, succeeded, failed, waiting) = try await start()
        #expect(try await run(["jobs", "cancel", waiting], target, service).exitCode == 0)
        #expect(try await service.client.job(waiting).state == "cancelled")
        #expect(try await run(["jobs", "cancel", succeeded], target, service).exitCode == 1)
        #expect(try await run(["jobs", "retry", failed], target, service).exitCode == 0)
        #expect(try await service.client.ended(failed).state == "failed")
        let purged = try await run(["jobs", "purge", "--state", "cancelled", "--state", "failed"], target, service)
        #expect(purged.text == "2 purged.\n", "\(purged.text)\(purged.errorText)")
        #expect(try await service.client.jobs().map(\.id) == [succeeded])
        #expect(try await run(["jobs", "show", failed], target, service).exitCode == 1)
        let none = try await run(["jobs", "purge", "--state", "succeeded", "--search", "nothing"], target, service)
        #expect(none.text == "0 purged.\n", "\(none.errorText)")
        try await service.stop()
    }

    @Test func `A missing database is reported with the path of the data folder`() async throws {
        let result = try await bench.command(["jobs", "list"]).run()
        #expect(result.exitCode == 1 && result.errorText.contains(bench.state), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: bench.state))
    }

    @Test func `The token can come from a command that takes some time to print it`() async throws {
        let tokens = try bench.folder.write("a-token-for-tests-of-2026\n", to: "tokens")
        let service = try await bench.start(["--token-file", tokens])
        var command = try bench.command([])
        let script = #""$0" jobs list --url "$1" --token-file <("$0" --version > version; cat "$2")"#
        command.arguments = ["-c", script, command.program, service.url, tokens]
        command.program = "bash"
        let result = try await command.run()
        #expect(result.exitCode == 0, "\(result.errorText)")
        try await service.stop()
    }

    @Test func `The command needs the service's token, which can be changed without a restart`() async throws {
        let tokens = try bench.folder.write("# of tests\n an-old-token-for-tests of 2026\n", to: "tokens")
        let service = try await bench.start(["--token-file", tokens])
        #expect(try await bench.command(["jobs", "list", "--url", service.url]).run().exitCode == 1)
        let arguments = ["jobs", "list", "--url", service.url, "--token-file", tokens]
        #expect(try await bench.command(arguments).run().exitCode == 0)
        try bench.folder.write("a-new-token-for-tests-\n", to: "tokens")
        service.running.send(SIGHUP)
        try await pollUntil("the new token is valid") { try await bench.command(arguments).run().exitCode == 0 }
        var client = service.client
        client.token = "an-old-token-for-tests"
        #expect(try await client.get("/v1/jobs").status == 401)
        try await service.stop()
    }

    @Test(arguments: Target.allCases)
    private func `Webhooks are listed, and replayed with the same ID`(target: Target) async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/hook", .status(204))
        let secret = "whsec_" + Data((0..<32).map { UInt8($0) }).base64EncodedString()
        let service = try await bench.start(environment: ["ATTACHPREP_WEBHOOK_SECRETS": secret])
        let source = try ServiceBench.url("grid.jpg")
        _ = try await service.client.submit(
            #"{"source": "\#(source)", "callbackURL": "\#(receiver.url("/hook"))"}"#)
        await receiver.until { $0.requests.count == 1 }
        try await pollUntil("the webhook is listed as delivered") {
            try await run(["webhooks", "list"], target, service).text.contains("delivered")
        }
        let listed = try await run(["webhooks", "list", "--format", "json"], target, service)
        let row = try JSONSerialization.jsonObject(with: Data(listed.text.utf8)) as? [String: Any]
        let id = try #require(row?["id"] as? String)
        let replayed = try await run(["webhooks", "replay", id], target, service)
        #expect(replayed.exitCode == 0, "\(replayed.errorText)")
        await receiver.until { $0.requests.count == 2 }
        #expect(receiver.requests.map { $0.headers["webhook-id"] } == [id, id])
        try await service.stop()
    }
}
