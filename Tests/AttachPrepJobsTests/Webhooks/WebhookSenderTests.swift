import AttachPrep
import Foundation
import Logging
import MediaTypes
import Metrics
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepJobs

@Suite(.timeLimit(.minutes(1))) struct WebhookSenderTests {
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let server: LoopbackServer
    let outbox = FakeOutbox()
    let feed = JobFeed()
    let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        try folder.write(Self.secret, to: "secrets")
    }

    private func sender(networks: [String] = ["127.0.0.0/8"]) throws -> WebhookSender {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let outbox = outbox
        return try WebhookSender(
            outbox: outbox, secrets: WebhookSecrets(file: folder.path("secrets"), logger: logger),
            client: HTTPClient(networks: networks.map { text throws in try AddressBlock(text) }), feed: feed,
            metrics: WebhookMetrics(factory: NOOPMetricsHandler.instance), logger: logger, now: { outbox.now })
    }

    /// Runs a sender for as long as `body` takes.
    private func running(_ sender: WebhookSender, _ body: () async throws -> Void) async throws {
        let run = Task { await sender.run() }
        defer { run.cancel() }
        try await body()
        await sender.drain(within: .zero)
        await run.value
    }

    private func wake() {
        feed.publish([JobFeed.Change(job: .make(), state: .succeeded)])
    }

    /// Advances the clock and waits for a condition on the webhooks.
    private func later(_ seconds: Double, until condition: @escaping @Sendable ([Webhook]) -> Bool) async {
        outbox.advance(by: seconds)
        wake()
        await outbox.until(condition)
    }

    // MARK: Requests

    @Test func `A webhook has a verifiable signature and the stored body`() async throws {
        server.serve("/in", .status(204))
        let body = "{\"type\": \"attachment.prepared\",  \"data\": {\"näme\": \"\\u00e9\"}}\n"
        let id = outbox.add(server.url("/in"), body: body)
        try await running(sender()) { await outbox.until { $0[0].state == .delivered } }
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.body == Data(body.utf8))
        #expect(request.headers["webhook-id"] == id.text)
        #expect(request.headers["webhook-timestamp"] == "1800000000")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["user-agent"]?.hasPrefix("attachprep/") == true)
        #expect(try await verified(request, with: Self.secret) == [true])
        #expect(try await verified(request, with: WebhookSecretTests.secret(of: 32)) == [false])
        #expect(outbox.webhooks[0].lastStatus == 204 && outbox.webhooks[0].attempts == 1)
    }

    @Test func `During a secret rotation, the old and the new secret sign`() async throws {
        server.serve("/in", .status(204))
        let new = WebhookSecretTests.secret(of: 32)
        try await running(sender()) {
            outbox.add(server.url("/in"))
            wake()
            await outbox.until { $0[0].state == .delivered }
            try folder.write(Array("\(new)\n\(Self.secret)\n".utf8), to: "secrets")
            outbox.add(server.url("/in"))
            wake()
            await outbox.until { $0[1].state == .delivered }
        }
        #expect(try await verified(server.requests[0], with: Self.secret) == [true])
        #expect(try await verified(server.requests[1], with: Self.secret) == [false, true])
        #expect(try await verified(server.requests[1], with: new) == [true, false])
    }

    // MARK: Retries

    @Test func `A webhook that is not accepted is retried by the schedule, with the same id and body`() async throws {
        server.serve("/in", inTurn: [.status(500), .status(503), .status(404), .status(200)])
        let id = outbox.add(server.url("/in"), body: "{\"n\": 1}")
        try await running(sender()) {
            await outbox.until { $0[0].attempts == 1 }
            #expect(outbox.webhooks[0].lastStatus == 500)
            await later(6, until: { $0[0].attempts == 2 })
            await later(331, until: { $0[0].attempts == 3 })
            await later(1_981, until: { $0[0].state == .delivered })
        }
        #expect(server.requests.map { $0.headers["webhook-id"] } == Array(repeating: id.text, count: 4))
        #expect(Set(server.requests.map(\.body)).count == 1)
        #expect(Set(server.requests.map { $0.headers["webhook-timestamp"] }).count == 4)
    }

    @Test func `A webhook is not sent before it is due`() async throws {
        server.serve("/in", .status(500))
        server.serve("/other", .status(200))
        outbox.add(server.url("/in"))
        try await running(sender()) {
            await outbox.until { $0[0].attempts == 1 }
            outbox.advance(by: 4)
            outbox.add(server.url("/other"))
            wake()
            await outbox.until { $0[1].state == .delivered }
            #expect(server.requests(to: "/in").count == 1)
        }
    }

    @Test func `Retry-After postpones the next attempt`() async throws {
        server.serve("/in", inTurn: [.status(429, ["Retry-After": "200"]), .status(200)])
        outbox.add(server.url("/in"))
        try await running(sender()) {
            await outbox.until { $0[0].attempts == 1 }
            #expect(outbox.webhooks[0].nextAt == outbox.now.addingTimeInterval(200))
        }
    }

    @Test func `A webhook is given up after the last step of the schedule`() async throws {
        server.serve("/in", .status(500))
        outbox.add(server.url("/in"))
        try await running(sender()) {
            for tries in 1...10 { await later(100_000, until: { $0[0].attempts == tries }) }
            #expect(outbox.webhooks[0].state == .givenUp)
            #expect(outbox.webhooks[0].lastError?.hasSuffix("answered 500.") == true)
        }
        #expect(server.requests.count == 10)
    }

    @Test func `After an hour of downtime, a receiver gets every webhook once`() async throws {
        let isUp = Mutex(false)
        server.serve("/in") { _ in .status(isUp.withLock { $0 } ? 200 : 503) }
        for number in 0..<60 { outbox.add(server.url("/in"), body: "{\"n\": \(number)}") }
        try await running(sender()) {
            // Immediately, after 5 s, 5 min and 30 min: four attempts in an hour.
            for (tries, seconds) in [(1, 0.0), (2, 6), (3, 331), (4, 1_981)] {
                await later(seconds, until: { $0.allSatisfy { $0.attempts == tries } })
            }
            isUp.withLock { $0 = true }
            await later(7_921, until: { $0.allSatisfy { $0.state == .delivered } })
        }
        let delivered = server.requests.suffix(60)
        #expect(server.requests.count == 300)
        #expect(Set(delivered.map { $0.headers["webhook-id"] }).count == 60 && Set(delivered.map(\.body)).count == 60)
    }

    @Test func `A receiver that answers 410 gets no more webhooks, others do`() async throws {
        server.serve("/gone", inTurn: [.status(500), .status(410)])
        server.serve("/in", .status(200))
        outbox.add(server.url("/gone"))
        try await running(sender()) {
            await outbox.until { $0[0].attempts == 1 }
            outbox.add(server.url("/gone"))
            wake()
            await outbox.until { $0.allSatisfy { $0.state == .givenUp } }
            outbox.add(server.url("/in"))
            wake()
            await outbox.until { $0[2].state == .delivered }
        }
        #expect(server.requests(to: "/gone").count == 2)
    }

    @Test func `A replayed webhook keeps its id and is sent immediately`() async throws {
        server.serve("/in", .status(200))
        let id = outbox.add(server.url("/in"))
        try await running(sender()) {
            await outbox.until { $0[0].state == .delivered }
            let count = try await outbox.replayWebhooks(WebhookFilter(ids: [id]))
            #expect(count == 1)
            wake()
            await outbox.until { $0[0].state == .delivered && $0[0].attempts == 1 }
        }
        #expect(server.requests.map { $0.headers["webhook-id"] } == [id.text, id.text])
    }

    // MARK: Receivers

    @Test func `A redirect is not followed`() async throws {
        server.serve("/in", .redirect("/elsewhere", status: 307))
        outbox.add(server.url("/in"))
        try await running(sender()) { await outbox.until { $0[0].attempts == 1 } }
        #expect(outbox.webhooks[0].state == .pending)
        #expect(outbox.webhooks[0].lastError?.contains("redirect") == true)
        #expect(server.requests(to: "/elsewhere").isEmpty)
    }

    @Test func `A receiver in a private network is rejected until its network is allowed`() async throws {
        server.serve("/in", .status(200))
        outbox.add(server.url("/in?token=s3cr3t"))
        try await running(sender(networks: ["127.0.0.2"])) { await outbox.until { $0[0].attempts == 1 } }
        #expect(outbox.webhooks[0].lastError?.contains("operator allow its network") == true)
        #expect(outbox.webhooks[0].lastError?.contains("s3cr3t") == false)
        #expect(server.connectionCount == 0)
        try await running(sender(networks: ["127.0.0.1/32"])) { await later(6, until: { $0[0].state == .delivered }) }
    }

    @Test func `An endless response counts as a delivery`() async throws {
        server.serve("/in", .head(200).then(.sendForever(Data(count: 1_000))))
        outbox.add(server.url("/in"))
        try await running(sender()) { await outbox.until { $0[0].state == .delivered } }
    }

    @Test func `A receiver that never answers does not block other receivers`() async throws {
        let dead = try LoopbackServer(address: "127.0.0.3")
        dead.serve("/in", LoopbackResponse([.hang]))
        server.serve("/in", .status(200))
        for _ in 0..<100 { outbox.add(dead.url("/in")) }
        for _ in 0..<50 { outbox.add(server.url("/in")) }
        try await running(sender()) {
            await outbox.until { $0.suffix(50).allSatisfy { $0.state == .delivered } }
            #expect(dead.requests.count <= Limits.webhooksPerHostMax)
            #expect(outbox.webhooks.prefix(100).allSatisfy { $0.attempts == 0 })
        }
    }

    @Test func `Many webhooks to one receiver are delivered over a few connections`() async throws {
        // With a body: a connection is not reused after a response without one.
        server.serve("/in", .status(200, [:], Data("ok".utf8)))
        for _ in 0..<200 { outbox.add(server.url("/in")) }
        try await running(sender()) { await outbox.until { $0.allSatisfy { $0.state == .delivered } } }
        #expect(Set(server.requests.map { $0.headers["webhook-id"] }).count == 200)
        #expect(server.requests.count == 200)
        #expect(server.connectionCount <= Limits.webhooksPerHostMax)
    }

    // MARK: Life cycle

    @Test func `Draining waits for an attempt in progress and stores its result`() async throws {
        let gate = LoopbackGate()
        server.serve("/in", LoopbackResponse([.wait(gate)]).then(.send(Data("HTTP/1.1 204 OK\r\n\r\n".utf8))))
        outbox.add(server.url("/in"))
        let sender = try sender()
        let run = Task { await sender.run() }
        await server.until { $0.requests.count == 1 }
        async let drained: Void = sender.drain(within: .seconds(30))
        gate.open()
        await drained
        #expect(outbox.webhooks[0].state == .delivered)
        await run.value
    }

    @Test func `Draining abandons an attempt that takes too long and stores nothing`() async throws {
        server.serve("/in", LoopbackResponse([.hang]))
        outbox.add(server.url("/in"))
        let sender = try sender()
        let run = Task { await sender.run() }
        await server.until { $0.requests.count == 1 }
        await sender.drain(within: .zero)
        await run.value
        #expect(outbox.webhooks[0].state == .pending && outbox.webhooks[0].attempts == 0)
        outbox.add(server.url("/in"))
        #expect(server.requests.count == 1)
    }

    @Test func `A cancelled sender stops immediately`() async throws {
        server.serve("/in", LoopbackResponse([.hang]))
        outbox.add(server.url("/in"))
        let sender = try sender()
        let run = Task { await sender.run() }
        await server.until { $0.requests.count == 1 }
        run.cancel()
        await run.value
        #expect(outbox.webhooks[0].attempts == 0)
    }

    @Test func `A sender continues after outbox errors`() async throws {
        server.serve("/in", .status(200))
        outbox.add(server.url("/in"))
        outbox.fail(3)
        try await running(sender()) {
            while outbox.failuresLeft > 0 {
                wake()
                await Task.yield()
            }
            wake()
            await outbox.until { $0[0].state == .delivered }
        }
    }

    // MARK: Independent verification

    /// Whether each signature of a request is valid, computed by Python.
    private func verified(_ request: LoopbackRequest, with secret: String) async throws -> [Bool] {
        try folder.write(Array(request.body), to: "body")
        let program = """
            import base64, hashlib, hmac, sys
            secret, name, time, signatures, path = sys.argv[1:]
            key = base64.b64decode(secret.removeprefix("whsec_"))
            content = f"{name}.{time}.".encode() + open(path, "rb").read()
            mine = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
            print(*[s == "v1," + mine for s in signatures.split(" ")])
            """
        let names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        let values = try names.map { try #require(request.headers[$0]) }
        let python = try await RunCommand("python3", ["-c", program, secret] + values + [folder.path("body")]).run()
        return python.text.split { $0.isWhitespace }.map { $0 == "True" }
    }
}
