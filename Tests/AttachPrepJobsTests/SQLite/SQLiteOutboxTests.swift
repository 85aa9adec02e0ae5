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

    @Test func `hosts whose places are taken get nothing`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://down.example/", "https://up.example/")
        let claimed = try await sqlite.store.claimWebhooks(9, lease: .seconds(9), notTo: ["down.example:443"])
        #expect(claimed.map(\.notice.host) == ["up.example:443"])
    }

    @Test func `a retry that the clock has put far away comes within the longest pause`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://hooks.example/")
        sqlite.clock.jump(-10 * 86_400)
        #expect(try await claim(sqlite).isEmpty)
        sqlite.clock.advance(86_401)
        #expect(try await claim(sqlite).count == 1)
    }
}
