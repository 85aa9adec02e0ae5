import Foundation
import TestSupport
import Testing

/// `attachprep serve` and `attachprep worker` on one queue: a real NATS server, a real bucket, real processes.
@Suite(.timeLimit(.minutes(4))) struct SharedQueueTests {
    let bench: ServiceBench
    let server: NATSServer
    let store: ObjectStore
    let prefix = "shared-\(UUID().uuidString)"

    init() async throws {
        bench = try ServiceBench()
        server = try await NATSServer.start()
        store = try await ObjectStore.shared()
    }

    private var environment: [String: String?] {
        store.environment.merging([
            "ATTACHPREP_PUBLISH": "s3://\(ObjectStore.bucket)/\(prefix)", "ATTACHPREP_QUEUE": server.url,
        ]) { $1 }.mapValues { Optional($0) }.merging(["ATTACHPREP_STATE": nil]) { $1 }
    }

    private func start(_ name: String, _ options: [String] = []) async throws -> RunningService {
        try await bench.launch(name, options, environment: environment)
    }

    private func command(_ words: [String]) async throws -> CommandResult {
        try await bench.command(words, environment: environment).run()
    }

    @Test func `A job that one process takes in is done by another, and shown by a third`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        #expect(try await front.client.job(id).state == "queued")
        let worker = try await start("worker")
        let other = try await start("serve", ["--accept-only"])
        let job = try await other.client.ended(id)
        let file = try #require(job.file("attachment"), "\(job.json)")
        #expect(file.url.hasPrefix("\(store.url)/\(ObjectStore.bucket)/\(prefix)/"), "\(file.url)")
        #expect(try await front.client.ended(id).state == "succeeded")
        for process in [front, worker, other] {
            let log = try await process.stop()
            #expect(log.exitCode == 0, "\(log.errorText)")
        }
        #expect(try bench.folder.contents().filter { $0.hasPrefix("tmp/") || $0.hasPrefix("state/") } == [])
    }

    @Test func `The dashboard of one process shows what the others do, and how the queue is`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let overview = try await front.client.get("/v1/overview").json()
        let queue = try #require(overview["queue"] as? [String: Any])
        #expect(queue["kind"] as? String == "jetstream" && queue["name"] as? String == server.url)
        #expect(queue["healthy"] as? Bool == true && overview["children"] is NSNull)
        let worker = try await start("worker")
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        _ = try await front.client.ended(id)
        try await askUntil("it shows what the worker has done") {
            let jobs = try await front.client.get("/v1/overview").json()["jobs"] as? [String: Int]
            return jobs?["succeeded"] == 1
        }
        for process in [front, worker] { try await process.stop() }
    }

    @Test func `A worker says how it is, and takes no jobs in`() async throws {
        let worker = try await start("worker")
        #expect(try await worker.client.get("/healthz").status == 200)
        try await worker.untilReady()
        #expect(try await worker.client.get("/metrics").text.contains("attachprep_jobs_due"))
        let refused = try await worker.client.send("POST", "/v1/jobs", body: "{}")
        #expect(refused.status == 404)
        try await worker.stop()
    }

    @Test func `What one process has made, another one does not make again`() async throws {
        let origin = try LoopbackServer()
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        origin.serve("/grid.png", .body(picture, type: "image/png", headers: ["Cache-Control": "max-age=3600"]))
        let (one, other) = (try await start("serve"), try await start("serve", ["--accept-only"]))
        let body = #"{"source": "\#(origin.url("/grid.png"))"}"#
        let first = try await one.client.ended(try await one.client.submit(body))
        try await one.stop()
        let worker = try await start("worker")
        let again = try await other.client.ended(try await other.client.submit(body))
        #expect(again.file("attachment")?.url == first.file("attachment")?.url && origin.requests.count == 1)
        try await worker.stop()
        try await other.stop()
    }

    @Test func `What is asked for on several machines at once is fetched once`() async throws {
        let origin = try LoopbackServer()
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.heic")))
        let gate = LoopbackGate()
        let answer = LoopbackAnswer.body(picture, type: "image/heic", headers: ["Cache-Control": "no-store"])
        origin.serve("/grid.heic", LoopbackAnswer([.wait(gate)] + answer.steps))
        let fronts = [try await start("serve"), try await start("serve"), try await start("serve")]
        let body = #"{"source": "\#(origin.url("/grid.heic"))"}"#
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<12 { group.addTask { try await fronts[number % 3].client.submit(body) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        gate.open()
        var addresses: Set<String> = []
        for id in ids {
            let job = try await fronts[0].client.ended(id)
            addresses.insert(try #require(job.file("attachment"), "\(job.json)").url)
        }
        // What was asked for after the first download had begun is not that download's, but all the same work.
        #expect(addresses.count == 1 && origin.requests.count <= 2, "\(origin.requests.count) downloads")
        for front in fronts { try await front.stop() }
    }

    @Test func `A file that was sent to one process is read by another`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let worker = try await start("worker")
        let picture = SourceTree.sample("grid.png")
        let sent = try await RunCommand(
            "curl",
            [
                "-sS", "--fail", "-H", "Content-Type: image/png", "--data-binary", "@\(picture)",
                "\(front.url)/v1/uploads",
            ],
            timeoutSeconds: 30
        ).run()
        let upload = try #require(try JSONSerialization.jsonObject(with: Data(sent.text.utf8)) as? [String: Any])
        let source = try #require(upload["source"] as? String, "\(sent.text)")
        let job = try await front.client.ended(try await front.client.submit(#"{"source": "\#(source)"}"#))
        #expect(job.state == "succeeded", "\(job.json)")
        try await worker.stop()
        try await front.stop()
    }

    @Test func `A caller is told once, by whoever did the work`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/hook", .status(204))
        let file = try bench.folder.write(
            "whsec_" + Data(repeating: 7, count: 32).base64EncodedString(), to: "secret")
        let front = try await start("serve", ["--accept-only", "--webhook-secret-file", file])
        let worker = try await start("worker", ["--webhook-secret-file", file])
        let id = try await front.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.jpg"))", "callbackURL": "\#(receiver.url("/hook"))"}"#)
        await receiver.until { !$0.requests.isEmpty }
        try await askUntil("it is known to be delivered") {
            let list = try await command(["webhooks", "list", "--format", "json"])
            return list.text.contains("delivered") && list.text.contains(id)
        }
        #expect(receiver.requests.count == 1)
        try await worker.stop()
        try await front.stop()
    }

    @Test func `Jobs on the servers are listed, called off and tried again from any machine`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        let listed = try await command(["jobs", "list"])
        #expect(listed.lines.count == 2 && listed.text.contains(id), "\(listed.text)\(listed.errorText)")
        #expect(try await command(["jobs", "cancel", id]).text.contains("cancelled"))
        let failing = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#)
        let worker = try await start("worker")
        #expect(try await front.client.ended(failing).state == "failed")
        #expect(try await command(["jobs", "retry", failing]).text.contains("queued"))
        try await askUntil("it has failed again") { try await front.client.job(failing).state == "failed" }
        #expect(try await command(["jobs", "purge", "--status", "failed"]).text == "1 purged.\n")
        try await worker.stop()
        try await front.stop()
    }

    @Test func `A worker that is killed leaves its job to another one`() async throws {
        let origin = try LoopbackServer()
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        let gate = LoopbackGate()
        origin.serve(
            "/slow.jpg", LoopbackAnswer([.wait(gate)] + LoopbackAnswer.body(picture, type: "image/jpeg").steps))
        let front = try await start("serve", ["--accept-only"])
        let first = try await start("worker")
        let id = try await front.client.submit(#"{"source": "\#(origin.url("/slow.jpg"))"}"#)
        await origin.until { !$0.requests.isEmpty }
        let second = try await start("worker")
        try await first.kill()
        gate.open()
        let job = try await front.client.ended(id, seconds: 90)
        #expect(job.state == "succeeded", "\(job.json)")
        try await second.stop()
        try await front.stop()
    }

    @Test func `A process waits for servers that start after it`() async throws {
        let port = server.port
        server.kill()
        try await server.untilGone()
        let bench = bench, environment = environment
        async let worker = bench.launch("worker", environment: environment)
        try await server.restart()
        let running = try await worker
        try await running.untilReady()
        #expect(port == server.port)
        try await running.stop()
    }

    // MARK: The doctor

    @Test func `The doctor looks at the servers and changes nothing`() async throws {
        let before = try await command(["doctor", "--publish", "file:"])
        #expect(before.text.contains("yes  keep jobs on the NATS servers"), "\(before.text)\(before.errorText)")
        #expect(before.text.contains("created by the first process that starts"))
        let again = try await command(["doctor", "--publish", "file:"])
        #expect(again.text.contains("created by the first process that starts"), "\(again.text)")
        let front = try await start("serve", ["--accept-only"])
        let after = try await command(["doctor", "--publish", "file:", "--format", "json"])
        let found = try #require(try JSONSerialization.jsonObject(with: Data(after.text.utf8)) as? [String: Any])
        let queue = try #require((found["queue"] as? [String: Any])?["examination"] as? [String: Any], "\(found)")
        let parts = try #require(queue["parts"] as? [[String: Any]])
        #expect(parts.count == 6 && parts.allSatisfy { $0["messages"] != nil }, "\(parts)")
        try await front.stop()
    }

    @Test func `The doctor says why jobs cannot be kept`() async throws {
        let plain = try await NATSServer.start(hasJetStream: false)
        let result = try await command(["doctor", "--publish", "file:", "--queue", plain.url])
        #expect(result.exitCode == 1 && result.text.contains("NO   keep jobs"), "\(result.text)")
        #expect(result.text.contains("JetStream does not answer"), "\(result.text)")
    }

    @Test func `A server whose copies diverge is refused, and the doctor names it`() async throws {
        let relay = try NATSRelay(to: server, version: "2.9.10")
        let old = environment.merging(["ATTACHPREP_QUEUE": relay.url]) { $1 }
        let refused = try await bench.command(["worker", "--port", "0"], environment: old, timeoutSeconds: 30).run()
        #expect(refused.exitCode == 1 && refused.errorText.contains("nats-server 2.9.10"), "\(refused.errorText)")
        #expect(refused.errorText.contains("ATTACHPREP_QUEUE_ALLOW_DIVERGING_SERVER"), "\(refused.errorText)")
        let words = ["doctor", "--publish", "file:"]
        let doctor = try await bench.command(words, environment: old).run()
        #expect(doctor.exitCode == 1 && doctor.text.contains("NO   keep jobs on the NATS servers"), "\(doctor.text)")
        #expect(doctor.text.contains("2.11.5 or newer"), "\(doctor.text)")
        let option = "--queue-allow-diverging-server"
        let allowed = try await bench.command(words + [option], environment: old).run()
        #expect(
            allowed.text.contains("yes  keep jobs") && allowed.text.contains("nats-server 2.9.10"), "\(allowed.text)")
        let worker = try await bench.launch("worker", [option], environment: old)
        try await worker.untilReady()
        let before = relay.taken
        relay.become("2.9.11")
        try await askUntil("it comes back") { relay.taken > before }
        try await worker.untilReady()
        try await worker.stop()
    }

    @Test func `Copies that one server cannot have are explained by worker, jobs and doctor`() async throws {
        for words in [["worker", "--port", "0"], ["jobs", "list"]] {
            let result = try await bench.command(
                words + ["--queue-replicas", "3"], environment: environment, timeoutSeconds: 30
            ).run()
            #expect(result.exitCode == 1 && result.errorText.contains("this one is alone"), "\(result.errorText)")
            let reason = "replicas > 1 not supported in non-clustered mode"
            #expect(result.errorText.components(separatedBy: reason).count == 2, "\(result.errorText)")
        }
        let doctor = try await command(["doctor", "--publish", "file:", "--queue-replicas", "3"])
        #expect(doctor.exitCode == 1 && doctor.text.contains("NO   keep jobs on the NATS servers"), "\(doctor.text)")
        #expect(doctor.text.contains("--queue-replicas 3 needs 3 NATS servers"), "\(doctor.text)")
    }

    // MARK: What cannot be

    @Test(
        arguments: [
            (["worker"], ["ATTACHPREP_QUEUE": nil], "--queue nats://"),
            (["worker"], ["ATTACHPREP_PUBLISH": nil], "--publish s3://bucket/prefix"),
            (["serve", "--accept-only"], ["ATTACHPREP_QUEUE": nil], "--accept-only"),
            (["worker", "--queue", "nats://me:word@127.0.0.1"], [:], "must not contain credentials"),
            (["worker", "--queue", "redis://127.0.0.1"], [:], "for --queue;"),
            (["worker", "--queue-user", "me"], ["ATTACHPREP_QUEUE_TOKEN": "t"], "only one of"),
        ] as [([String], [String: String?], String)])
    func `What does not go together is said before anything starts`(
        words: [String], changes: [String: String?], sentence: String
    ) async throws {
        let result = try await bench.command(
            words + ["--port", "0"], environment: environment.merging(changes) { $1 }, timeoutSeconds: 30
        ).run()
        #expect(result.exitCode == 2 && result.errorText.contains(sentence), "\(result.errorText)")
    }

    @Test func `Servers that do not know us are said at once`() async throws {
        let server = try await NATSServer.start("authorization { token: \"right\" }")
        let result = try await bench.command(
            ["worker", "--port", "0"],
            environment: environment.merging(["ATTACHPREP_QUEUE": server.url, "ATTACHPREP_QUEUE_TOKEN": "wrong"]) {
                $1
            },
            timeoutSeconds: 30
        ).run()
        #expect(result.exitCode == 1 && result.errorText.contains("rejected the credentials"), "\(result.errorText)")
    }

    @Test func `Arrivals are counted elsewhere, and that is said`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let answer = try await front.client.get("/v1/campaigns")
        #expect(answer.status == 400 && answer.text.contains("does not count receipts"), "\(answer.text)")
        try await front.stop()
    }
}
