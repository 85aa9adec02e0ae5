import Foundation
import TestSupport
import Testing

/// `attachprep serve` and `attachprep worker` on one queue, with a real NATS server, bucket and processes.
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

    private func command(_ arguments: [String]) async throws -> CommandResult {
        try await bench.command(arguments, environment: environment).run()
    }

    @Test func `A job accepted by one process is done by another, and shown by a third`() async throws {
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

    @Test func `The overview of one process shows the work of the others, and the status of the queue`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let overview = try await front.client.get("/v1/overview").json()
        let queue = try #require(overview["queue"] as? [String: Any])
        #expect(queue["kind"] as? String == "jetstream" && queue["name"] as? String == server.url)
        #expect(queue["healthy"] as? Bool == true && overview["children"] is NSNull)
        let worker = try await start("worker")
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        _ = try await front.client.ended(id)
        try await pollUntil("the overview counts the job of the worker") {
            let jobs = try await front.client.get("/v1/overview").json()["jobs"] as? [String: Int]
            return jobs?["succeeded"] == 1
        }
        for process in [front, worker] { try await process.stop() }
    }

    @Test func `A worker has health and metrics routes, and accepts no jobs`() async throws {
        let worker = try await start("worker")
        #expect(try await worker.client.get("/healthz").status == 200)
        try await worker.untilReady()
        #expect(try await worker.client.get("/metrics").text.contains("attachprep_jobs_due"))
        let rejected = try await worker.client.send("POST", "/v1/jobs", body: "{}")
        #expect(rejected.status == 404)
        try await worker.stop()
    }

    @Test func `The result of one process is reused by another`() async throws {
        let origin = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        origin.serve("/grid.png", .body(image, type: "image/png", headers: ["Cache-Control": "max-age=3600"]))
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

    @Test func `A source submitted to several processes at once is fetched once`() async throws {
        let origin = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.heic")))
        let gate = LoopbackGate()
        let response = LoopbackResponse.body(image, type: "image/heic", headers: ["Cache-Control": "no-store"])
        origin.serve("/grid.heic", LoopbackResponse([.wait(gate)] + response.steps))
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
        // A job submitted after the first download had begun may need a second one.
        #expect(addresses.count == 1 && origin.requests.count <= 2, "\(origin.requests.count) downloads")
        for front in fronts { try await front.stop() }
    }

    @Test func `A file uploaded to one process is read by another`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let worker = try await start("worker")
        let image = SourceTree.sample("grid.png")
        let sent = try await RunCommand(
            "curl",
            [
                "-sS", "--fail", "-H", "Content-Type: image/png", "--data-binary", "@\(image)",
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

    @Test func `A webhook is delivered once, by the worker that did the job`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/hook", .status(204))
        let file = try bench.folder.write(
            "whsec_" + Data(repeating: 7, count: 32).base64EncodedString(), to: "secret")
        let front = try await start("serve", ["--accept-only", "--webhook-secret-file", file])
        let worker = try await start("worker", ["--webhook-secret-file", file])
        let id = try await front.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.jpg"))", "callbackURL": "\#(receiver.url("/hook"))"}"#)
        await receiver.until { !$0.requests.isEmpty }
        try await pollUntil("the webhook is listed as delivered") {
            let list = try await command(["webhooks", "list", "--format", "json"])
            return list.text.contains("delivered") && list.text.contains(id)
        }
        #expect(receiver.requests.count == 1)
        try await worker.stop()
        try await front.stop()
    }

    @Test func `Jobs on the servers can be listed, cancelled, retried and purged from any machine`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        let listed = try await command(["jobs", "list"])
        #expect(listed.lines.count == 2 && listed.text.contains(id), "\(listed.text)\(listed.errorText)")
        #expect(try await command(["jobs", "cancel", id]).text.contains("cancelled"))
        let failing = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#)
        let worker = try await start("worker")
        #expect(try await front.client.ended(failing).state == "failed")
        #expect(try await command(["jobs", "retry", failing]).text.contains("queued"))
        try await pollUntil("the job has failed again") { try await front.client.job(failing).state == "failed" }
        #expect(try await command(["jobs", "purge", "--status", "failed"]).text == "1 purged.\n")
        try await worker.stop()
        try await front.stop()
    }

    @Test func `The job of a killed worker is done by another one`() async throws {
        let origin = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        let gate = LoopbackGate()
        origin.serve(
            "/slow.jpg", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image, type: "image/jpeg").steps))
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

    @Test func `A process waits for NATS servers that start after it`() async throws {
        let port = server.port
        server.kill()
        try await server.waitUntilGone()
        let bench = bench, environment = environment
        async let worker = bench.launch("worker", environment: environment)
        try await server.restart()
        let running = try await worker
        try await running.untilReady()
        #expect(port == server.port)
        try await running.stop()
    }

    // MARK: doctor

    @Test func `doctor checks the NATS servers and changes nothing`() async throws {
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
        #expect(parts.count == 7 && parts.allSatisfy { $0["messages"] != nil }, "\(parts)")
        try await front.stop()
    }

    @Test func `doctor reports why jobs cannot be kept`() async throws {
        let plain = try await NATSServer.start(hasJetStream: false)
        let result = try await command(["doctor", "--publish", "file:", "--queue", plain.url])
        #expect(result.exitCode == 1 && result.text.contains("NO   keep jobs"), "\(result.text)")
        #expect(result.text.contains("JetStream does not answer"), "\(result.text)")
    }

    @Test func `A server version whose copies can diverge is rejected, and reported by doctor`() async throws {
        let relay = try NATSRelay(to: server, version: "2.9.10")
        let old = environment.merging(["ATTACHPREP_QUEUE": relay.url]) { $1 }
        let rejected = try await bench.command(["worker", "--port", "0"], environment: old, timeoutSeconds: 30).run()
        #expect(rejected.exitCode == 1 && rejected.errorText.contains("nats-server 2.9.10"), "\(rejected.errorText)")
        #expect(rejected.errorText.contains("ATTACHPREP_QUEUE_ALLOW_DIVERGING_SERVER"), "\(rejected.errorText)")
        let arguments = ["doctor", "--publish", "file:"]
        let doctor = try await bench.command(arguments, environment: old).run()
        #expect(doctor.exitCode == 1 && doctor.text.contains("NO   keep jobs on the NATS servers"), "\(doctor.text)")
        #expect(doctor.text.contains("2.11.5 or newer"), "\(doctor.text)")
        let option = "--queue-allow-diverging-server"
        let allowed = try await bench.command(arguments + [option], environment: old).run()
        #expect(
            allowed.text.contains("yes  keep jobs") && allowed.text.contains("nats-server 2.9.10"), "\(allowed.text)")
        let worker = try await bench.launch("worker", [option], environment: old)
        try await worker.untilReady()
        let before = relay.connectionCount
        relay.changeVersion(to: "2.9.11")
        try await pollUntil("the worker has reconnected") { relay.connectionCount > before }
        try await worker.untilReady()
        try await worker.stop()
    }

    @Test func `More replicas than servers are reported by worker, jobs and doctor`() async throws {
        for arguments in [["worker", "--port", "0"], ["jobs", "list"]] {
            let result = try await bench.command(
                arguments + ["--queue-replicas", "3"], environment: environment, timeoutSeconds: 30
            ).run()
            #expect(result.exitCode == 1 && result.errorText.contains("there is only this one"), "\(result.errorText)")
            let reason = "replicas > 1 not supported in non-clustered mode"
            #expect(result.errorText.components(separatedBy: reason).count == 2, "\(result.errorText)")
        }
        let doctor = try await command(["doctor", "--publish", "file:", "--queue-replicas", "3"])
        #expect(doctor.exitCode == 1 && doctor.text.contains("NO   keep jobs on the NATS servers"), "\(doctor.text)")
        #expect(doctor.text.contains("--queue-replicas 3 needs 3 NATS servers"), "\(doctor.text)")
    }

    // MARK: Invalid settings

    @Test(
        arguments: [
            (["worker"], ["ATTACHPREP_QUEUE": nil], "--queue nats://"),
            (["worker"], ["ATTACHPREP_PUBLISH": nil], "--publish s3://bucket/prefix"),
            (["serve", "--accept-only"], ["ATTACHPREP_QUEUE": nil], "--accept-only"),
            (["worker", "--queue", "nats://me:secret@127.0.0.1"], [:], "must not contain credentials"),
            (["worker", "--queue", "redis://127.0.0.1"], [:], "for --queue;"),
            (["worker", "--queue-user", "me"], ["ATTACHPREP_QUEUE_TOKEN": "t"], "only one of"),
        ] as [([String], [String: String?], String)])
    func `Contradictory settings are reported before anything starts`(
        arguments: [String], changes: [String: String?], message: String
    ) async throws {
        let result = try await bench.command(
            arguments + ["--port", "0"], environment: environment.merging(changes) { $1 }, timeoutSeconds: 30
        ).run()
        #expect(result.exitCode == 2 && result.errorText.contains(message), "\(result.errorText)")
    }

    @Test func `Rejected credentials are reported at once`() async throws {
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

    @Test func `A NATS user with the permissions of deploy is enough`() async throws {
        let permissions = try String(
            contentsOfFile: SourceTree.path("deploy/cluster/permissions.conf"), encoding: .utf8)
        let server = try await NATSServer.start(
            "authorization { users: [ { user: narrow, password: secret\n\(permissions) } ] }")
        let narrow = environment.merging([
            "ATTACHPREP_QUEUE": server.url, "ATTACHPREP_QUEUE_USER": "narrow", "ATTACHPREP_QUEUE_PASSWORD": "secret",
        ]) { $1 }
        let front = try await bench.launch("serve", ["--accept-only"], environment: narrow)
        let worker = try await bench.launch("worker", environment: narrow)
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        let job = try await front.client.ended(id)
        let name = try #require(job.json["worker"] as? String, "\(job.json)")
        let listed = try await bench.command(["jobs", "workers"], environment: narrow).run()
        #expect(listed.lines.count == 2 && listed.text.contains(name), "\(listed.text)\(listed.errorText)")
        let shown = try await bench.command(["jobs", "show", id], environment: narrow).run()
        #expect(shown.lines.contains { $0.hasPrefix("worker ") && $0.hasSuffix(name) }, "\(shown.text)")
        let later = try await front.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.png"))", "notBefore": "2099-01-01T00:00:00Z"}"#)
        #expect(try await bench.command(["jobs", "cancel", later], environment: narrow).run().exitCode == 0)
        let purged = try await bench.command(["jobs", "purge", "--status", "cancelled"], environment: narrow).run()
        #expect(purged.text == "1 purged.\n", "\(purged.errorText)")
        try await worker.stop()
        try await front.stop()
    }

    @Test func `A permission that the NATS user lacks is named in the log`() async throws {
        let denied = #"permissions: { publish: { deny: ["$JS.API.CONSUMER.CREATE.>"] } }"#
        let server = try await NATSServer.start(
            "authorization { users: [ { user: narrow, password: secret, \(denied) } ] }")
        let narrow = environment.merging([
            "ATTACHPREP_QUEUE": server.url, "ATTACHPREP_QUEUE_USER": "narrow", "ATTACHPREP_QUEUE_PASSWORD": "secret",
        ]) { $1 }
        let running = try bench.command(["worker", "--port", "0"], environment: narrow).start()
        try await pollUntil("the log names the subject", seconds: 60) {
            let text = try running.errorTextSoFar()
            return text.contains("deny a request") && text.contains("$JS.API.CONSUMER.CREATE.KV_")
        }
        running.send(SIGKILL)
    }

    @Test func `Campaigns are not available with a shared queue, and the error says so`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let response = try await front.client.get("/v1/campaigns")
        #expect(response.status == 400 && response.text.contains("does not count receipts"), "\(response.text)")
        try await front.stop()
    }
}
