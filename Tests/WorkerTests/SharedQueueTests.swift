import Foundation
import TestSupport
import Testing

/// `attachprep serve` and `attachprep worker` on one queue, with a real PostgreSQL server, bucket and processes.
@Suite(.timeLimit(.minutes(4))) struct SharedQueueTests {
    let shared: SharedQueueBench

    init() async throws {
        shared = try await SharedQueueBench(try await PostgresServer.start())
    }

    private func start(_ name: String, _ options: [String] = []) async throws -> RunningService {
        try await shared.start(name, options)
    }

    @Test func `A job accepted by one process is done by another, and shown by a third`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        #expect(try await front.client.job(id).state == "queued")
        let worker = try await start("worker")
        let other = try await start("serve", ["--accept-only"])
        let job = try await other.client.ended(id)
        let file = try #require(job.file("attachment"), "\(job.json)")
        #expect(file.url.hasPrefix("\(shared.store.url)/\(ObjectStore.bucket)/\(shared.prefix)/"), "\(file.url)")
        #expect(try await front.client.ended(id).state == "succeeded")
        for process in [front, worker, other] {
            let log = try await process.stop()
            #expect(log.exitCode == 0, "\(log.errorText)")
        }
        let files = try shared.bench.folder.contents()
        #expect(files.filter { $0.hasPrefix("tmp/") || $0.hasPrefix("state/") } == [])
    }

    @Test func `The overview of one process shows the work of the others, and the status of the queue`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let overview = try await front.client.get("/v1/overview").json()
        let queue = try #require(overview["queue"] as? [String: Any])
        #expect(queue["kind"] as? String == "postgres", "\(queue)")
        #expect(queue["name"] as? String == "postgres@127.0.0.1:\(shared.server.port)/postgres", "\(queue)")
        #expect(queue["healthy"] as? Bool == true && overview["children"] is NSNull)
        let worker = try await start("worker")
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        _ = try await front.client.ended(id)
        try await pollUntil("the overview counts the job of the worker") {
            let jobs = try await front.client.get("/v1/overview").json()["jobs"] as? [String: Int]
            return jobs?["succeeded"] == 1
        }
        let log = try front.running.errorTextSoFar() + worker.running.errorTextSoFar()
        #expect(log.contains(#""queue":"postgres@127.0.0.1:\#(shared.server.port)/postgres""#), "\(log)")
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

    @Test func `A request that waits at one process is answered when the worker of another ends the job`() async throws
    {
        let origin = try LoopbackServer()
        let gate = LoopbackGate()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/slow.jpg", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        let front = try await start("serve", ["--accept-only"])
        let worker = try await start("worker")
        let waiting = Task {
            try await front.client.send(
                "POST", "/v1/jobs", body: #"{"source": "\#(origin.url("/slow.jpg"))"}"#, headers: ["Prefer": "wait=60"])
        }
        await origin.until { !$0.requests.isEmpty }
        gate.open()
        let response = try await waiting.value
        #expect(response.status == 200, "\(response.text)")
        #expect((try response.json()["attachment"] as? [String: Any]) != nil, "\(response.text)")
        for process in [front, worker] { try await process.stop() }
    }

    @Test func `A listener that goes on with another machine gets the changes that it has missed`() async throws {
        let (front, other) = (
            try await start("serve", ["--accept-only"]), try await start("serve", ["--accept-only"])
        )
        let body = #"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#
        // Until the other machine has known all changes for longer than machines differ.
        try await pollUntil("the listener goes on with the other machine") {
            let listener = try await front.events()
            _ = await listener.receive(until: "event: counts")
            let job = try await front.client.submit(body)
            let text = await listener.receive(until: #"data: {"id":"\#(job)","state":"queued"}"#)
            let id = try #require(text.matches(of: /id: ([0-9a-z-]+)\nevent: job/).last?.1)
            let missed = try await front.client.submit(body)
            let beginning = try await other.events(after: String(id)).receive(until: "event: counts")
            return !beginning.contains("event: reset") && beginning.contains(missed)
        }
        for process in [front, other] { try await process.stop() }
    }

    @Test func `A listener that reconnects to another process is told to load again, and misses nothing after`()
        async throws
    {
        let front = try await start("serve", ["--accept-only"])
        let first = try await front.events()
        let id = try #require(await first.receive(until: "event: counts").firstMatch(of: /id: ([0-9a-z-]+)/)?.1)
        try await front.stop()
        let other = try await start("serve", ["--accept-only"])
        let second = try await other.events(after: String(id))
        #expect(await second.receive(until: "event: reset\ndata: {}\n\nid: ").contains("200 OK"))
        let worker = try await start("worker")
        let job = try await other.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        let done = #"data: {"id":"\#(job)","state":"succeeded"}"#
        #expect(await second.receive(until: done).contains(done))
        for process in [other, worker] { try await process.stop() }
    }

    // MARK: Work that is shared

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
        let response = LoopbackResponse.body(image, type: "image/heic", headers: ["Cache-Control": "max-age=3600"])
        origin.serve("/grid.heic", LoopbackResponse([.wait(gate)] + response.steps))
        let fronts = [try await start("serve"), try await start("serve"), try await start("serve")]
        let body = #"{"source": "\#(origin.url("/grid.heic"))"}"#
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<12 { group.addTask { try await fronts[number % 3].client.submit(body) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await origin.until { !$0.requests.isEmpty }
        gate.open()
        var addresses: Set<String> = []
        for id in ids {
            let job = try await fronts[0].client.ended(id)
            addresses.insert(try #require(job.file("attachment"), "\(job.json)").url)
        }
        #expect(addresses.count == 1 && origin.requests.count == 1, "\(origin.requests.count) downloads")
        for front in fronts { try await front.stop() }
    }

    @Test func `--per-host limits the downloads from one host over all workers`() async throws {
        let origin = try LoopbackServer()
        let gate = LoopbackGate()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        for number in 0..<6 {
            origin.serve("/\(number).jpg", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        }
        let front = try await start("serve", ["--accept-only"])
        let workers = [
            try await start("worker", ["--per-host", "2"]), try await start("worker", ["--per-host", "2"]),
        ]
        let ids = try await front.client.submit(
            lines: (0..<6).map { #"{"source": "\#(origin.url("/\($0).jpg"))"}"# })
        await origin.until { $0.requests.count == 2 }
        // A job of another host, submitted later, is not delayed; then both workers have looked for further jobs.
        let elsewhere = try await front.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.png").replacing("127.0.0.1", with: "localhost"))"}"#)
        _ = try await front.client.ended(elsewhere)
        #expect(origin.requests.count == 2)
        gate.open()
        for id in ids { #expect(try await front.client.ended(id).state == "succeeded") }
        for process in workers + [front] { try await process.stop() }
    }

    @Test func `An upload sent to one machine is processed by another, with its bytes in the bucket`() async throws {
        let front = try await start("serve", ["--accept-only"])
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
        let keys = try await shared.store.keys(below: shared.prefix)
        let key = try #require(keys.first { source.hasSuffix($0.split(separator: "/").last ?? "-") }, "\(keys)")
        #expect(try await shared.store.object(key).body == [UInt8](Data(contentsOf: URL(filePath: image))))
        let id = try await front.client.submit(#"{"source": "\#(source)"}"#)
        let worker = try await start("worker")
        let job = try await front.client.ended(id)
        #expect(job.state == "succeeded", "\(job.json)")
        try await worker.stop()
        try await front.stop()
    }

    @Test func `A webhook is delivered once, by the worker that did the job`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/hook", .status(204))
        let file = try shared.bench.folder.write(
            "whsec_" + Data(repeating: 7, count: 32).base64EncodedString(), to: "secret")
        let front = try await start("serve", ["--accept-only", "--webhook-secret-file", file])
        let worker = try await start("worker", ["--webhook-secret-file", file])
        let id = try await front.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.jpg"))", "callbackURL": "\#(receiver.url("/hook"))"}"#)
        await receiver.until { !$0.requests.isEmpty }
        try await pollUntil("the webhook is listed as delivered") {
            let list = try await shared.command(["webhooks", "list", "--url", front.url, "--format", "json"])
            return list.text.contains("delivered") && list.text.contains(id)
        }
        #expect(receiver.requests.count == 1)
        try await worker.stop()
        try await front.stop()
    }

    @Test func `Jobs can be listed, cancelled, retried and purged at any machine`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let other = try await start("serve", ["--accept-only"])
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        let listed = try await shared.command(["jobs", "list", "--url", other.url])
        #expect(listed.lines.count == 2 && listed.text.contains(id), "\(listed.text)\(listed.errorText)")
        #expect(try await shared.command(["jobs", "cancel", id, "--url", other.url]).text.contains("cancelled"))
        let failing = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#)
        let worker = try await start("worker")
        #expect(try await front.client.ended(failing).state == "failed")
        #expect(try await shared.command(["jobs", "retry", failing, "--url", other.url]).text.contains("queued"))
        try await pollUntil("the job has failed again") { try await front.client.job(failing).state == "failed" }
        let purged = try await shared.command(["jobs", "purge", "--state", "failed", "--url", other.url])
        #expect(purged.text == "1 purged.\n", "\(purged.errorText)")
        for process in [worker, other, front] { try await process.stop() }
    }

    @Test func `A receipt token of one machine is counted by another, and both show the campaign`() async throws {
        let options = ["--base-url", "https://push.example"]
        let (front, other) = (try await start("serve", options), try await start("serve", options))
        let source = try ServiceBench.url("grid.png")
        let written = try await front.client.send(
            "POST", "/v1/payloads",
            body: #"""
                {"payload": {"aps": {"alert": "Hello", "mutable-content": 1}, "attach": "\#(source)"},
                 "campaign": "spring"}
                """#)
        let token = try #require(
            written.text.firstMatch(of: /"token"\s*:\s*"([^"]+)"/)?.1, "\(written.status) \(written.text)")
        for _ in 0..<2 {
            let body = #"{"token": "\#(token)", "id": "a", "outcome": "text", "attachSeconds": 0.5, "ageSeconds": 0}"#
            let response = try await other.client.send("POST", "/v1/receipts", body: body)
            #expect(response.status == 200, "\(response.text)")
        }
        for service in [front, other] {
            let campaign = try await service.client.get("/v1/campaigns/spring").json()
            #expect(campaign["arrivals"] as? Int == 1, "\(campaign)")
            try await service.stop()
        }
    }

    // MARK: Losses

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

    @Test func `A process waits for a database that starts after it`() async throws {
        try await shared.server.kill()
        async let worker = start("worker")
        try await shared.server.startAgain()
        let running = try await worker
        try await running.untilReady()
        try await running.stop()
    }

    @Test func `While the database is away, submissions get 503 with Retry-After, and jobs wait`() async throws {
        let front = try await start("serve", ["--accept-only"])
        let body = #"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#
        let id = try await front.client.submit(body)
        try await shared.server.kill()
        let refused = try await front.client.send("POST", "/v1/jobs", body: body)
        #expect(refused.status == 503 && refused.header("Retry-After") != nil, "\(refused.status) \(refused.text)")
        #expect(try refused.json()["code"] as? String == "queue.unavailable", "\(refused.text)")
        try await pollUntil("the service is not ready") { try await front.client.get("/readyz").status == 503 }
        #expect(try await front.client.get("/readyz").text.contains("database"))
        #expect(try await front.client.get("/metrics").text.contains("\nattachprep_database_up 0\n"))
        try await shared.server.startAgain()
        let worker = try await start("worker")
        #expect(try await front.client.ended(id).state == "succeeded")
        let metrics = try await front.client.get("/metrics").text
        #expect(metrics.contains("\nattachprep_database_up 1\n"), "\(metrics)")
        #expect(metrics.contains("\nattachprep_database_dead_rows "), "\(metrics)")
        #expect(metrics.contains("\nattachprep_database_oldest_transaction_seconds "), "\(metrics)")
        for process in [front, worker] { try await process.stop() }
    }
}
