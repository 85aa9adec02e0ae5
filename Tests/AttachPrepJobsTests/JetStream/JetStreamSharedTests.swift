import AttachPrep
import AttachPrepJobs
import Foundation
import NATS
import RichPush
import TestSupport
import Testing

/// What machines have in common beside the jobs: results, and what callers are still to be told.
@Suite(.timeLimit(.minutes(2))) struct JetStreamSharedTests {
    private func pair() async throws -> (one: JetStreamUnderTest, other: JetStreamUnderTest) {
        let one = try await JetStreamUnderTest()
        return (one, try await JetStreamUnderTest(server: one.server))
    }

    private func known(_ url: String, to machine: JetStreamUnderTest) async throws {
        try await askUntil("the other machine has heard of it") {
            try await machine.queue.webhookCounts()[.pending] == 1
        }
    }

    // MARK: Webhooks

    @Test func `who ended a job sends its webhook at once, and nobody else does meanwhile`() async throws {
        let (one, other) = try await pair()
        try await OutboxConformance.told(one.driver, "https://hooks.example/")
        try await known("https://hooks.example/", to: other)
        #expect(try await OutboxConformance.claim(other.driver).isEmpty)
        #expect(try await OutboxConformance.claim(one.driver).count == 1)
        other.clock.advance(Limits.webhookGraceSeconds + 1)
        #expect(try await OutboxConformance.claim(other.driver).isEmpty)
    }

    @Test func `a webhook whose machine is gone is another one's, before a try and after one`() async throws {
        let (one, other) = try await pair()
        try await OutboxConformance.told(one.driver, "https://hooks.example/")
        try await known("https://hooks.example/", to: other)
        other.clock.advance(Limits.webhookGraceSeconds + 1)
        let taken = try #require(try await OutboxConformance.claim(other.driver).first)
        one.clock.advance(Limits.webhookGraceSeconds + 1)
        #expect(try await OutboxConformance.claim(one.driver).isEmpty)
        one.clock.advance(Limits.webhookLeaseSeconds + 1)
        try await askUntil("the first machine takes it back") {
            try await OutboxConformance.claim(one.driver).first?.id == taken.id
        }
    }

    @Test func `of machines that want to send the same webhook one does`() async throws {
        let (one, other) = try await pair()
        for number in 0..<5 { try await OutboxConformance.told(one.driver, "https://hooks.example/\(number)") }
        try await askUntil("the other machine has heard of them") {
            try await other.queue.webhookCounts()[.pending] == 5
        }
        other.clock.advance(Limits.webhookGraceSeconds + 1)
        async let mine = OutboxConformance.claim(one.driver)
        async let theirs = OutboxConformance.claim(other.driver)
        let ids = try await (mine + theirs).map(\.id)
        #expect(ids.count == 5 && Set(ids).count == 5)
    }

    @Test func `what came of a try is known to all machines, and replayed by any`() async throws {
        let (one, other) = try await pair()
        try await OutboxConformance.told(one.driver, "https://hooks.example/")
        let id = try #require(try await OutboxConformance.claim(one.driver).first).id
        try await one.queue.record(id, .givenUp(status: 500, error: "It answered 500."))
        try await askUntil("the other machine knows") { try await other.queue.webhookCounts()[.givenUp] == 1 }
        #expect(try await other.queue.replayWebhooks(WebhookFilter(states: [.givenUp])) == 1)
        #expect(try await OutboxConformance.claim(other.driver).map(\.id) == [id])
    }

    @Test func `an end is told once to those who listen, whatever becomes of its webhook`() async throws {
        let (one, other) = try await pair()
        var heard: [JobFeed.Change] = []
        let changes = other.feed.changes(backlog: 100)
        let id = try await OutboxConformance.told(one.driver, "https://hooks.example/")[0]
        let webhook = try #require(try await OutboxConformance.claim(one.driver).first).id
        try await one.queue.record(webhook, .delivered(status: 200))
        let last = try await one.driver.enqueue(.sample())[0]
        for await change in changes {
            if change.job == last { break }
            heard.append(change)
        }
        #expect(heard.filter { $0.job == id && $0.state == .failed }.count == 1, "\(heard)")
    }

    // MARK: Results

    private func store(
        _ key: String, on machine: JetStreamUnderTest, freshness: SourceFreshness? = nil, at date: Date
    ) async throws -> StoredResult {
        try await machine.queue.store(
            .sample(.converted), folder: nil, for: WorkKey(key), freshness: freshness, fetchedAt: date)
    }

    @Test func `a result of one machine is every machine's`() async throws {
        let (one, other) = try await pair()
        let freshness = SourceFreshness(freshUntil: one.clock.now + 60)
        let stored = try await store("a key with spaces, and more", on: one, freshness: freshness, at: one.clock.now)
        let found = try #require(try await other.queue.result(for: WorkKey("a key with spaces, and more")))
        #expect(found.media == stored.media && found.manifest == stored.manifest && found.freshness == freshness)
        #expect(found.fetchedAt == one.clock.now)
        #expect(try await other.queue.result(for: WorkKey("another")) == nil)
    }

    @Test func `the result of the later fetch holds, whoever comes first`() async throws {
        let (one, other) = try await pair()
        let later = try await store("key", on: other, at: one.clock.now + 5)
        _ = try await store("key", on: one, at: one.clock.now)
        #expect(try await one.queue.result(for: WorkKey("key"))?.media == later.media)
    }

    @Test func `a result that its source still stands behind is renewed for all`() async throws {
        let (one, other) = try await pair()
        let stored = try await store("key", on: one, at: one.clock.now)
        let freshness = SourceFreshness(freshUntil: one.clock.now + 600)
        try await other.queue.renew(stored.media, freshness, fetchedAt: one.clock.now + 30)
        let found = try #require(try await one.queue.result(for: WorkKey("key")))
        #expect(found.freshness == freshness && found.fetchedAt == one.clock.now + 30)
    }

    @Test func `one that another took the place of meanwhile is not renewed`() async throws {
        let (one, other) = try await pair()
        let former = try await store("key", on: one, at: one.clock.now)
        let latter = try await store("key", on: other, at: one.clock.now + 1)
        try await one.queue.renew(
            former.media, SourceFreshness(freshUntil: one.clock.now + 9), fetchedAt: one.clock.now)
        let found = try #require(try await one.queue.result(for: WorkKey("key")))
        #expect(found.media == latter.media && found.freshness == nil)
    }
}
