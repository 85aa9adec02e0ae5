import AttachPrepJobs
import Foundation
import RichPush
import Testing

@Suite struct SQLiteOutboxTests {
    private func told(_ sqlite: SQLiteUnderTest, _ urls: String...) async throws {
        for url in urls {
            _ = try await sqlite.driver.enqueue(.sample(host: nil))
            let lease = try await sqlite.driver.claimOne().lease
            _ = try await sqlite.store.finish(lease, .succeeded(.sample(), .make()), notice: .sample(url))
        }
    }

    private func claim(_ sqlite: SQLiteUnderTest, _ count: Int = 10) async throws -> [Webhook] {
        try await sqlite.store.claimWebhooks(count, lease: .seconds(60))
    }

    @Test func `a webhook is there when its job has ended, and is given once`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://hooks.example/a?token=secret")
        #expect(try await sqlite.store.nextWebhookDue() == sqlite.clock.now)
        let webhook = try #require(try await claim(sqlite).first)
        #expect(webhook.notice == .sample("https://hooks.example/a?token=secret") && webhook.attempts == 0)
        #expect(webhook.state == .pending && webhook.createdAt == sqlite.clock.now)
        #expect(try await claim(sqlite).isEmpty)
        #expect(try await sqlite.store.nextWebhookDue() == nil)
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

    @Test func `one whose sender never came back is due again`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://hooks.example/")
        let first = try await claim(sqlite)
        sqlite.clock.jump(86_400)
        #expect(try await claim(sqlite).isEmpty)
        sqlite.clock.advance(61)
        #expect(try await sqlite.store.nextWebhookDue() != nil)
        #expect(try await claim(sqlite).map(\.id) == first.map(\.id))
    }

    @Test func `what came of a try is kept`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://hooks.example/")
        let id = try #require(try await claim(sqlite).first).id
        let later = sqlite.clock.now + 300
        try await sqlite.store.record(id, .retry(at: later, status: 502, error: "It answered 502."))
        #expect(try await claim(sqlite).isEmpty)
        #expect(try await sqlite.store.nextWebhookDue() == later)
        sqlite.clock.advance(300)
        let again = try #require(try await claim(sqlite).first)
        #expect(again.id == id && again.attempts == 1 && again.lastStatus == 502 && again.nextAt == later)
        #expect(again.lastError == "It answered 502.")
        try await sqlite.store.record(id, .delivered(status: 204))
        let delivered = try await sqlite.store.webhooks(WebhookFilter(), after: nil, limit: 10).webhooks
        #expect(delivered.map(\.state) == [.delivered] && delivered[0].endedAt == sqlite.clock.now)
        #expect(delivered[0].nextAt == nil && delivered[0].lastError == nil && delivered[0].lastStatus == 204)
    }

    @Test func `a receiver with a long queue leaves room for the others`() async throws {
        let sqlite = try await SQLiteUnderTest()
        for number in 0..<20 { try await told(sqlite, "https://down.example/\(number)") }
        sqlite.clock.advance(1)
        try await told(sqlite, "https://up.example/")
        let claimed = try await claim(sqlite, 30)
        #expect(claimed.count == Limits.webhooksPerHostMax + 1 && claimed.last?.notice.host == "up.example:443")
        #expect(try await claim(sqlite, 30).isEmpty)
    }

    @Test func `hosts whose places are taken get nothing`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://down.example/", "https://up.example/")
        let claimed = try await sqlite.store.claimWebhooks(9, lease: .seconds(9), notTo: ["down.example:443"])
        #expect(claimed.map(\.notice.host) == ["up.example:443"])
    }

    @Test func `what is still to go to an address that is not there any more is given up`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let gone = "https://hooks.example/gone"
        try await told(sqlite, gone, gone, "https://hooks.example/here")
        #expect(try await sqlite.store.giveUpWebhooks(to: gone, error: "It is gone.") == 2)
        #expect(try await claim(sqlite).map(\.notice.url) == ["https://hooks.example/here"])
        #expect(try await sqlite.store.webhookCounts() == [.pending: 1, .delivered: 0, .givenUp: 2])
    }

    @Test func `webhooks are replayed with their ids and the schedule from its beginning`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await told(sqlite, "https://hooks.example/1", "https://hooks.example/2")
        let ids = try await claim(sqlite).map(\.id)
        try await sqlite.store.record(ids[0], .delivered(status: 200))
        try await sqlite.store.record(ids[1], .givenUp(status: nil, error: "It is down."))
        #expect(try await claim(sqlite).isEmpty)
        #expect(try await sqlite.store.replayWebhooks(WebhookFilter(states: [.givenUp])) == 1)
        #expect(try await claim(sqlite).map(\.id) == [ids[1]])
        #expect(try await sqlite.store.replayWebhooks(WebhookFilter(ids: [ids[0]])) == 1)
        let again = try await claim(sqlite)
        #expect(again.map(\.id) == [ids[0]] && again[0].attempts == 0)
    }

    @Test func `webhooks are listed page by page, by state and by job`() async throws {
        let sqlite = try await SQLiteUnderTest()
        for number in 0..<5 {
            try await told(sqlite, "https://hooks.example/\(number)")
            sqlite.clock.advance(1)
        }
        let first = try await sqlite.store.webhooks(WebhookFilter(), after: nil, limit: 3)
        let second = try await sqlite.store.webhooks(WebhookFilter(), after: first.next, limit: 3)
        #expect(first.webhooks.map(\.notice.url.last) == ["4", "3", "2"] && second.webhooks.count == 2)
        #expect(second.next == nil)
        let job = first.webhooks[1].job
        let mine = try await sqlite.store.webhooks(WebhookFilter(states: [.pending], job: job), after: nil, limit: 9)
        #expect(mine.webhooks.map(\.id) == [first.webhooks[1].id])
        let none = try await sqlite.store.webhooks(WebhookFilter(states: [.delivered]), after: nil, limit: 9)
        #expect(none.webhooks.isEmpty)
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
