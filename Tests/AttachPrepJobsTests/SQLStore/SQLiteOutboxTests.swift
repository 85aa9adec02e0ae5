import AttachPrepJobs
import Foundation
import MediaTypes
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
        #expect(try await sqlite.driver.claim().isEmpty)
        #expect(try await !sqlite.store.finish(lease, .succeeded(.sample(), .make()), notice: .sample()))
        #expect(try await sqlite.store.webhookCounts()[.pending] == 0)
    }

    @Test func `A webhook that was written with a wrong clock waits no longer than its schedule`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await addWebhooks(sqlite, "https://hooks.example/")
        // A database from before the clock was recorded, and from before a restart of the machine.
        try await sqlite.store.alter("DELETE FROM setting WHERE name LIKE 'clock%'")
        sqlite.clock.jump(-10 * 86_400)
        #expect(try await claim(sqlite).count == 1)
    }
}
