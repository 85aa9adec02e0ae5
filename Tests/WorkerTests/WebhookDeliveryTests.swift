import Foundation
import TestSupport
import Testing

/// Webhooks as their receiver sees them, also after a crash of the service.
@Suite(.timeLimit(.minutes(3))) struct WebhookDeliveryTests {
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

    @Test func `A webhook not delivered before kill -9 is delivered after a restart, with the same ID`() async throws {
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
        try await pollUntil("the webhook is delivered") {
            try await service.client.get("/metrics").text.contains(#"attachprep_outbox_webhooks{state="delivered"} 1"#)
        }
        try await service.stop()
    }

    @Test func `The webhook of a rejected source has its type and manifest`() async throws {
        receiver.serve("/in", .status(204))
        let service = try await start()
        _ = try await submit(try ServiceBench.url("truncated.jpg"), to: service)
        await receiver.until { $0.requests.count == 1 }
        let body = try #require(receiver.requests.first?.body)
        let webhook = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(webhook["type"] as? String == "attachment.rejected")
        #expect((webhook["data"] as? [String: Any])?["outcome"] as? String == "rejected")
        #expect(webhook["timestamp"] is String)
        try await service.stop()
    }
}
