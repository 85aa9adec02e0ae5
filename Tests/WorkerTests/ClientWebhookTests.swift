import Foundation
import TestSupport
import Testing

/// What a receiver of webhooks sees of a service that has bad days.
@Suite(.timeLimit(.minutes(3))) struct ClientWebhookTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let bench: ServiceBench
    let receiver: LoopbackServer

    init() throws {
        bench = try ServiceBench()
        receiver = try LoopbackServer()
    }

    private func start() async throws -> RunningService {
        try await bench.start(
            ["--allow-callback-network", "127.0.0.0/8"], environment: ["ATTACHPREP_WEBHOOK_SECRETS": Self.secret])
    }

    private func submit(_ source: String, to service: RunningService) async throws -> String {
        try await service.client.submit(#"{"source": "\#(source)", "callbackURL": "\#(receiver.url("/in"))"}"#)
    }

    @Test func `What was not delivered before kill -9 is delivered after it, under the same id`() async throws {
        receiver.serve("/in", inTurn: [.status(503), .status(204)])
        let killed = try await start()
        _ = try await submit(try ServiceBench.url("grid.heic"), to: killed)
        await receiver.until { $0.requests.count == 1 }
        try await killed.kill()
        let service = try await start()
        await receiver.until { $0.requests.count == 2 }
        let requests = receiver.requests
        #expect(Set(requests.map { $0.headers["webhook-id"] }).count == 1)
        #expect(Set(requests.map(\.body)).count == 1)
        try await askUntil("the webhook is delivered") {
            try await service.client.get("/metrics").text.contains(#"attachprep_outbox_webhooks{state="delivered"} 1"#)
        }
        try await service.stop()
    }

    @Test func `A rejected source is told as such, with the manifest`() async throws {
        receiver.serve("/in", .status(204))
        let service = try await start()
        _ = try await submit(try ServiceBench.url("truncated.jpg"), to: service)
        await receiver.until { $0.requests.count == 1 }
        let body = try #require(receiver.requests.first?.body)
        let told = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(told["type"] as? String == "attachment.rejected")
        #expect((told["data"] as? [String: Any])?["outcome"] as? String == "rejected")
        #expect(told["timestamp"] is String)
        try await service.stop()
    }
}
