import AttachPrep
import AttachPrepJobs
import Foundation
import NATS
import RichPush
import TestSupport
import Testing

/// Results of a queue that several machines share.
@Suite(.timeLimit(.minutes(2))) struct JetStreamResultTests {
    private func pair() async throws -> (one: JetStreamUnderTest, other: JetStreamUnderTest) {
        let one = try await JetStreamUnderTest()
        return (one, try await JetStreamUnderTest(server: one.server))
    }

    private func store(
        _ key: String, on machine: JetStreamUnderTest, freshness: SourceFreshness? = nil, at date: Date
    ) async throws -> StoredResult {
        try await machine.queue.store(
            .sample(.converted), folder: nil, for: WorkKey(key), freshness: freshness, fetchedAt: date)
    }

    @Test func `A result stored on one machine is found on another`() async throws {
        let (one, other) = try await pair()
        let freshness = SourceFreshness(freshUntil: one.clock.now + 60)
        let stored = try await store("a key with spaces, and more", on: one, freshness: freshness, at: one.clock.now)
        let found = try #require(try await other.queue.result(for: WorkKey("a key with spaces, and more")))
        #expect(found.media == stored.media && found.manifest == stored.manifest && found.freshness == freshness)
        #expect(found.fetchedAt == one.clock.now)
        #expect(try await other.queue.result(for: WorkKey("another")) == nil)
    }

    @Test func `The result of the later fetch is kept, whichever is stored first`() async throws {
        let (one, other) = try await pair()
        let later = try await store("key", on: other, at: one.clock.now + 5)
        _ = try await store("key", on: one, at: one.clock.now)
        #expect(try await one.queue.result(for: WorkKey("key"))?.media == later.media)
    }

    @Test func `A result renewed on one machine is renewed on all`() async throws {
        let (one, other) = try await pair()
        let stored = try await store("key", on: one, at: one.clock.now)
        let freshness = SourceFreshness(freshUntil: one.clock.now + 600)
        try await other.queue.renew(stored.media, freshness, fetchedAt: one.clock.now + 30)
        let found = try #require(try await one.queue.result(for: WorkKey("key")))
        #expect(found.freshness == freshness && found.fetchedAt == one.clock.now + 30)
    }

    @Test func `A result that was replaced meanwhile is not renewed`() async throws {
        let (one, other) = try await pair()
        let previous = try await store("key", on: one, at: one.clock.now)
        let current = try await store("key", on: other, at: one.clock.now + 1)
        try await one.queue.renew(
            previous.media, SourceFreshness(freshUntil: one.clock.now + 9), fetchedAt: one.clock.now)
        let found = try #require(try await one.queue.result(for: WorkKey("key")))
        #expect(found.media == current.media && found.freshness == nil)
    }
}
