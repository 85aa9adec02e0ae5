import AttachPrepJobs
import Foundation
import RichPush
import Testing

@Suite struct SQLiteOutboxTests {
    private func told(_ sqlite: SQLiteUnderTest, _ urls: String...) async throws {
        for url in urls { try await OutboxConformance.told(sqlite.driver, url) }
    }

    private func claim(_ sqlite: SQLiteUnderTest, _ count: Int = 10) async throws -> [Webhook] {
        try await OutboxConformance.claim(sqlite.driver, count)
    }

    @Test(arguments: OutboxConformance.behaviours)
    func `SQLite is an outbox`(_ behaviour: Behaviour) async throws {
        let sqlite = try await SQLiteUnderTest()
        try await behaviour.check(sqlite.driver)
        await sqlite.store.close()
    }

    @Test func `a lost lease leaves no webhook behind`() async throws {
        let sqlite = try await SQLiteUnderTest()
        _ = try await sqlite.driver.enqueue(.sample())
        let lease = try await sqlite.driver.claimOne().lease
        sqlite.clock.advance(16)
        _ = try await sqlite.driver.claimOne()
        #expect(try await !sqlite.store.finish(lease, .succeeded(.sample(), .make()), notice: .sample()))
        #expect(try await sqlite.store.webhookCounts()[.pending] == 0)
    }

    @Test func `webhooks that were being sent during a crash are sent alone, and no job beside them`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://one.example/", "https://two.example/")
        #expect(try await claim(sqlite).count == 2)
        let next = try await sqlite.restarted(.crashed)
        let first = try await claim(next)
        #expect(first.count == 1)
        _ = try await next.driver.enqueue(.sample())
        #expect(try await claim(next).isEmpty)
        #expect(try await next.driver.claim().isEmpty)
        for webhook in first { try await next.store.record(webhook.id, .delivered(status: 204)) }
        // The job has its turn; then the other webhook waits until it has ended.
        let job = try await next.driver.claimOne()
        #expect(try await claim(next).isEmpty)
        #expect(try await next.store.finish(job.lease, .succeeded(.sample(), .make()), notice: nil))
        #expect(try await claim(next).count == 1)
        await next.store.close()
    }

    @Test func `a webhook is given up after three crashes`() async throws {
        var sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://one.example/")
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

    @Test func `hosts whose places are taken get nothing`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://down.example/", "https://up.example/")
        let claimed = try await sqlite.store.claimWebhooks(9, lease: .seconds(9), notTo: ["down.example:443"])
        #expect(claimed.map(\.notice.host) == ["up.example:443"])
    }

    @Test func `a webhook that was written by a wrong clock waits no longer than its schedule`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://hooks.example/")
        // Before this database knew which clock it is written by, and before a start of the machine.
        try await sqlite.store.alter("DELETE FROM tally WHERE name LIKE 'clock%'")
        sqlite.clock.jump(-10 * 86_400)
        #expect(try await claim(sqlite).count == 1)
    }
}
