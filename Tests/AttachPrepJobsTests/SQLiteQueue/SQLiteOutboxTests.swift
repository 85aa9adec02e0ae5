import AttachPrepJobs
import Foundation
import RichPush
import Testing

@Suite struct SQLiteOutboxTests {
    private func addWebhooks(_ sqlite: SQLiteUnderTest, _ urls: String...) async throws {
        for url in urls { try await OutboxConformance.addWebhooks(sqlite.driver, url) }
    }

    private func claim(_ sqlite: SQLiteUnderTest, _ count: Int = 10) async throws -> [Webhook] {
        try await OutboxConformance.claim(sqlite.driver, count)
    }

    @Test(arguments: OutboxConformance.behaviors)
    func `SQLite conforms to WebhookOutbox`(_ behavior: Behavior) async throws {
        let sqlite = try await SQLiteUnderTest()
        try await behavior.check(sqlite.driver)
        await sqlite.store.close()
    }

    @Test func `A finish with a lost lease adds no webhook`() async throws {
        let sqlite = try await SQLiteUnderTest()
        _ = try await sqlite.driver.enqueue(.sample())
        let lease = try await sqlite.driver.claimOne().lease
        sqlite.clock.advance(16)
        _ = try await sqlite.driver.claimOne()
        #expect(try await !sqlite.store.finish(lease, .succeeded(.sample(), .make()), notice: .sample()))
        #expect(try await sqlite.store.webhookCounts()[.pending] == 0)
    }

    @Test func `Webhooks that were being sent during a crash are sent alone, without a job at the same time`()
        async throws
    {
        let sqlite = try await SQLiteUnderTest()
        try await addWebhooks(sqlite, "https://one.example/", "https://two.example/")
        #expect(try await claim(sqlite).count == 2)
        let next = try await sqlite.restarted(.crashed)
        let first = try await claim(next)
        #expect(first.count == 1)
        _ = try await next.driver.enqueue(.sample())
        #expect(try await claim(next).isEmpty)
        #expect(try await next.driver.claim().isEmpty)
        for webhook in first { try await next.store.record(webhook.id, .delivered(status: 204)) }
        // The job is next; the other webhook waits until it has ended.
        let job = try await next.driver.claimOne()
        #expect(try await claim(next).isEmpty)
        #expect(try await next.store.finish(job.lease, .succeeded(.sample(), .make()), notice: nil))
        #expect(try await claim(next).count == 1)
        await next.store.close()
    }

    @Test func `A webhook is given up after three crashes`() async throws {
        var sqlite = try await SQLiteUnderTest()
        try await addWebhooks(sqlite, "https://one.example/")
        for _ in 0..<3 {
            #expect(try await claim(sqlite).count == 1)
            sqlite = try await sqlite.restarted(.crashed)
        }
        #expect(try await claim(sqlite).isEmpty)
        let webhooks = try await sqlite.store.webhooks(WebhookFilter(), after: nil, limit: 9).webhooks
        #expect(webhooks.map(\.state) == [.givenUp])
        #expect(webhooks.first?.lastError?.contains("crashed 3 times") == true)
        await sqlite.store.close()
    }

    @Test func `A webhook that was written with a wrong clock waits no longer than its schedule`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await addWebhooks(sqlite, "https://hooks.example/")
        // A database from before the clock was recorded, and from before a restart of the machine.
        try await sqlite.store.alter("DELETE FROM tally WHERE name LIKE 'clock%'")
        sqlite.clock.jump(-10 * 86_400)
        #expect(try await claim(sqlite).count == 1)
    }
}
