import AttachPrep
import AttachPrepJobs
import Foundation
import NATS
import RichPush
import TestSupport
import Testing

/// The outbox of a queue that several machines share.
@Suite(.timeLimit(.minutes(2))) struct JetStreamOutboxTests {
    private func pair() async throws -> (one: JetStreamUnderTest, other: JetStreamUnderTest) {
        let one = try await JetStreamUnderTest()
        return (one, try await JetStreamUnderTest(server: one.server))
    }

    private func waitUntilPending(on machine: JetStreamUnderTest) async throws {
        try await pollUntil("the other machine knows the webhook") {
            try await machine.queue.webhookCounts()[.pending] == 1
        }
    }

    @Test func `The machine that finished a job sends its webhook, and no other does`() async throws {
        let (one, other) = try await pair()
        try await OutboxConformance.addWebhooks(one.driver, "https://hooks.example/")
        try await waitUntilPending(on: other)
        #expect(try await OutboxConformance.claim(other.driver).isEmpty)
        #expect(try await OutboxConformance.claim(one.driver).count == 1)
        other.clock.advance(Limits.webhookGraceSeconds + 1)
        #expect(try await OutboxConformance.claim(other.driver).isEmpty)
    }

    @Test func `The webhook of a lost machine is sent by another, before and after an attempt`() async throws {
        let (one, other) = try await pair()
        try await OutboxConformance.addWebhooks(one.driver, "https://hooks.example/")
        try await waitUntilPending(on: other)
        other.clock.advance(Limits.webhookGraceSeconds + 1)
        let claimed = try #require(try await OutboxConformance.claim(other.driver).first)
        one.clock.advance(Limits.webhookGraceSeconds + 1)
        #expect(try await OutboxConformance.claim(one.driver).isEmpty)
        one.clock.advance(Limits.webhookLeaseSeconds + 1)
        try await pollUntil("the first machine reclaims it") {
            try await OutboxConformance.claim(one.driver).first?.id == claimed.id
        }
    }

    @Test func `Concurrent claims on two machines receive each webhook once`() async throws {
        let (one, other) = try await pair()
        for number in 0..<5 { try await OutboxConformance.addWebhooks(one.driver, "https://hooks.example/\(number)") }
        try await pollUntil("the other machine knows the webhooks") {
            try await other.queue.webhookCounts()[.pending] == 5
        }
        other.clock.advance(Limits.webhookGraceSeconds + 1)
        async let first = OutboxConformance.claim(one.driver)
        async let second = OutboxConformance.claim(other.driver)
        let ids = try await (first + second).map(\.id)
        #expect(ids.count == 5 && Set(ids).count == 5)
    }

    @Test func `The result of an attempt is known on all machines, and any of them can replay it`() async throws {
        let (one, other) = try await pair()
        try await OutboxConformance.addWebhooks(one.driver, "https://hooks.example/")
        let id = try #require(try await OutboxConformance.claim(one.driver).first).id
        try await one.queue.record(id, .givenUp(status: 500, error: "It answered 500."))
        try await pollUntil("the other machine knows") { try await other.queue.webhookCounts()[.givenUp] == 1 }
        #expect(try await other.queue.replayWebhooks(WebhookFilter(states: [.givenUp])) == 1)
        #expect(try await OutboxConformance.claim(other.driver).map(\.id) == [id])
    }

    @Test func `The end of a job is published once, whatever becomes of its webhook`() async throws {
        let (one, other) = try await pair()
        var received: [JobFeed.Change] = []
        let changes = other.feed.changes(backlog: 100)
        let id = try await OutboxConformance.addWebhooks(one.driver, "https://hooks.example/")[0]
        let webhook = try #require(try await OutboxConformance.claim(one.driver).first).id
        try await one.queue.record(webhook, .delivered(status: 200))
        let last = try await one.driver.enqueue(.sample())[0]
        for await change in changes {
            if change.job == last { break }
            received.append(change)
        }
        #expect(received.filter { $0.job == id && $0.state == .failed }.count == 1, "\(received)")
    }
}
