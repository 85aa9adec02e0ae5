import AttachPrepJobs
import Foundation
import RichPush
import TestSupport
import Testing

/// What every outbox does.
enum OutboxConformance {
    static let behaviours = [
        Behaviour("a webhook is there when its job has ended, and is given once") { driver in
            try await told(driver, "https://hooks.example/a?token=secret")
            #expect(try await driver.jobs.nextWebhookDue() == driver.clock.now)
            let webhook = try #require(try await claim(driver).first)
            #expect(webhook.notice == .sample("https://hooks.example/a?token=secret") && webhook.attempts == 0)
            #expect(webhook.state == .pending && webhook.createdAt == driver.clock.now)
            #expect(try await claim(driver).isEmpty)
            #expect(try await driver.jobs.nextWebhookDue() == nil)
        },
        Behaviour("one whose sender never came back is due again") { driver in
            try await told(driver, "https://hooks.example/")
            let first = try await claim(driver)
            driver.clock.jump(86_400)
            #expect(try await claim(driver).isEmpty)
            driver.clock.advance(61)
            #expect(try await driver.jobs.nextWebhookDue() != nil)
            #expect(try await claim(driver).map(\.id) == first.map(\.id))
        },
        Behaviour("a webhook that waits is due when its time has passed, however often the clock is set") { driver in
            try await told(driver, "https://hooks.example/")
            driver.clock.jump(3_600)
            let id = try #require(try await claim(driver).first).id
            try await driver.jobs.record(id, .retry(at: driver.clock.now + 5, status: 502, error: "It answered 502."))
            driver.clock.jump(-3_600)
            let due = try await driver.jobs.nextWebhookDue()
            #expect(due == driver.clock.now + 5)
            driver.clock.advance(4)
            #expect(try await claim(driver).isEmpty)
            driver.clock.advance(1)
            #expect(try await claim(driver).map(\.id) == [id])
        },
        Behaviour("a clock that is set forward brings no webhook before its time") { driver in
            try await told(driver, "https://hooks.example/")
            let id = try #require(try await claim(driver).first).id
            try await driver.jobs.record(id, .retry(at: driver.clock.now + 5, status: 502, error: "It answered 502."))
            driver.clock.jump(3_600)
            #expect(try await claim(driver).isEmpty)
            driver.clock.advance(5)
            #expect(try await claim(driver).map(\.id) == [id])
        },
        Behaviour("a webhook that a wrong clock put off is not later than its schedule after a start") { driver in
            try await told(driver, "https://hooks.example/")
            driver.clock.jump(3_600)
            let id = try #require(try await claim(driver).first).id
            try await driver.jobs.record(id, .retry(at: driver.clock.now + 5, status: 502, error: "It answered 502."))
            driver.clock.jump(-3_600)
            let next = try await driver.restarted(.killed)
            next.clock.advance(6)
            #expect(try await claim(next).map(\.id) == [id])
        },
        Behaviour("what came of a try is kept") { driver in
            try await told(driver, "https://hooks.example/")
            let id = try #require(try await claim(driver).first).id
            let later = driver.clock.now + 300
            try await driver.jobs.record(id, .retry(at: later, status: 502, error: "It answered 502."))
            #expect(try await claim(driver).isEmpty)
            #expect(try await driver.jobs.nextWebhookDue() == later)
            driver.clock.advance(300)
            let again = try #require(try await claim(driver).first)
            #expect(again.id == id && again.attempts == 1 && again.lastStatus == 502 && again.nextAt == later)
            #expect(again.lastError == "It answered 502.")
            try await driver.jobs.record(id, .delivered(status: 204))
            let delivered = try await driver.jobs.webhooks(WebhookFilter(), after: nil, limit: 10).webhooks
            #expect(delivered.map(\.state) == [.delivered] && delivered[0].endedAt == driver.clock.now)
            #expect(delivered[0].nextAt == nil && delivered[0].lastError == nil && delivered[0].lastStatus == 204)
        },
        Behaviour("a receiver with a long queue leaves room for the others") { driver in
            for number in 0..<20 { try await told(driver, "https://down.example/\(number)") }
            driver.clock.advance(1)
            try await told(driver, "https://up.example/")
            let claimed = try await claim(driver, 30)
            #expect(claimed.count == Limits.webhooksPerHostMax + 1 && claimed.last?.notice.host == "up.example:443")
            #expect(try await claim(driver, 30).isEmpty)
        },
        Behaviour("what is still to go to an address that is not there any more is given up") { driver in
            let gone = "https://hooks.example/gone"
            try await told(driver, gone, gone, "https://hooks.example/here")
            #expect(try await driver.jobs.giveUpWebhooks(to: gone, error: "It is gone.") == 2)
            #expect(try await claim(driver).map(\.notice.url) == ["https://hooks.example/here"])
            #expect(try await driver.jobs.webhookCounts() == [.pending: 1, .delivered: 0, .givenUp: 2])
        },
        Behaviour("webhooks are replayed with their ids and the schedule from its beginning") { driver in
            try await told(driver, "https://hooks.example/1", "https://hooks.example/2")
            let ids = try await claim(driver).map(\.id)
            try #require(ids.count == 2)
            try await driver.jobs.record(ids[0], .delivered(status: 200))
            try await driver.jobs.record(ids[1], .givenUp(status: nil, error: "It is down."))
            #expect(try await claim(driver).isEmpty)
            #expect(try await driver.jobs.replayWebhooks(WebhookFilter(states: [.givenUp])) == 1)
            #expect(try await claim(driver).map(\.id) == [ids[1]])
            #expect(try await driver.jobs.replayWebhooks(WebhookFilter(ids: [ids[0]])) == 1)
            let again = try await claim(driver)
            #expect(again.map(\.id) == [ids[0]] && again[0].attempts == 0)
        },
        Behaviour("a delivered webhook's address loses its secrets, and is replayed while its job has them") { driver in
            let url = "https://user:secret@hooks.example/?token=secret"
            var submission = JobSubmission.sample(host: nil)
            submission.request.jobOptions.callbackURL = url
            _ = try await driver.jobs.enqueue([submission, submission], idempotency: nil)
            try await end(.failed(.rejected(.mediaCorrupt)), url, driver)
            submission.key = WorkKey("another")
            try await end(.succeeded(.sample(), .make()), url, driver)
            let claimed = try await claim(driver)
            #expect(claimed.map(\.notice.url) == [url, url])
            for webhook in claimed { try await driver.jobs.record(webhook.id, .delivered(status: 204)) }
            let kept = try await driver.jobs.webhooks(WebhookFilter(), after: nil, limit: 9).webhooks
            #expect(kept.map(\.notice.url) == Array(repeating: "https://hooks.example/?token=REDACTED", count: 2))
            #expect(try await driver.jobs.replayWebhooks(WebhookFilter(states: [.delivered])) == 1)
            #expect(try await claim(driver).map(\.notice.url) == [url])
        },
        Behaviour("webhooks are listed page by page, by state and by job") { driver in
            for number in 0..<5 {
                try await told(driver, "https://hooks.example/\(number)")
                driver.clock.advance(1)
            }
            let first = try await driver.jobs.webhooks(WebhookFilter(), after: nil, limit: 3)
            let second = try await driver.jobs.webhooks(WebhookFilter(), after: first.next, limit: 3)
            #expect(first.webhooks.map(\.notice.url.last) == ["4", "3", "2"] && second.webhooks.count == 2)
            #expect(second.next == nil)
            let job = first.webhooks[1].job
            let filter = WebhookFilter(states: [.pending], job: job)
            let mine = try await driver.jobs.webhooks(filter, after: nil, limit: 9)
            #expect(mine.webhooks.map(\.id) == [first.webhooks[1].id])
            let none = try await driver.jobs.webhooks(WebhookFilter(states: [.delivered]), after: nil, limit: 9)
            #expect(none.webhooks.isEmpty)
        },
        Behaviour("a job that is tried again keeps what was to be told of its first end") { driver in
            let id = try await told(driver, "https://hooks.example/first")[0]
            _ = try await driver.jobs.retry(id)
            try await end(.succeeded(.sample(), .make()), "https://hooks.example/second", driver)
            let urls = try await claim(driver).map(\.notice.url)
            #expect(Set(urls) == ["https://hooks.example/first", "https://hooks.example/second"])
        },
        // Issue 19, item 7.
        Behaviour("a job that is cancelled while it waits is told, at its own address and with its origin") { driver in
            let id = try await driver.enqueue(wanting("https://hooks.example/?token=secret"))[0]
            _ = try await driver.enqueue(.sample(host: nil))
            _ = try await driver.jobs.cancel(id)
            let webhook = try #require(try await claim(driver).first)
            #expect(webhook.job == id && webhook.notice.event == .jobCancelled)
            #expect(webhook.notice.url == "https://hooks.example/?token=secret")
            #expect(webhook.notice.body.contains(#""id":"\#(id)""#) && webhook.notice.body.contains(#""batch":"b""#))
            #expect(webhook.notice.body.contains(#""idempotencyKey":"k""#) && !webhook.notice.body.contains("secret"))
        },
        Behaviour("a job that is cancelled while it runs is told once, however its run ends") { driver in
            for end in RunEnd.allCases {
                let id = try await driver.enqueue(wanting("https://hooks.example/\(end)"))[0]
                let lease = try await driver.claimOne().lease
                _ = try await driver.jobs.cancel(id)
                #expect(try await claim(driver).isEmpty)
                try await end.happen(to: lease, driver)
                #expect(try await driver.job(id).state == .cancelled, "\(end)")
                let webhooks = try await claim(driver)
                #expect(webhooks.map(\.notice.event) == [.jobCancelled], "\(end)")
                #expect(webhooks.map(\.notice.url) == ["https://hooks.example/\(end)"])
                for webhook in webhooks { try await driver.jobs.record(webhook.id, .delivered(status: 204)) }
            }
        },
        Behaviour("a job's origin is there for who works on it, and for who sends it again") { driver in
            let key = IdempotencyKey(caller: "me", key: "k", bodyDigest: "d")
            let submissions = [wanting("https://hooks.example/1"), wanting("https://hooks.example/2")]
            let first = try await driver.jobs.enqueue(submissions, idempotency: key)
            let second = try await driver.jobs.enqueue(submissions, idempotency: key)
            let origin = JobOrigin(batch: "b", idempotencyKey: "k")
            #expect(first.jobs.map(\.origin) == [origin, origin] && second.jobs.map(\.origin) == [origin, origin])
            #expect(try await driver.claim(2).map(\.job.origin) == [origin, origin])
            #expect(try await driver.job(first.jobs[0].id).origin == origin)
        },
        Behaviour("webhooks go with their job") { driver in
            let id = try await told(driver, "https://hooks.example/")[0]
            #expect(try await driver.jobs.purge(JobFilter(ids: [id])) == 1)
            #expect(try await driver.jobs.webhooks(WebhookFilter(), after: nil, limit: 9).webhooks.isEmpty)
            #expect(try await driver.jobs.nextWebhookDue() == nil)
        },
    ]

    /// How a run that is cancelled may end.
    private enum RunEnd: CaseIterable {
        case postponed, released, lost

        func happen(to lease: JobLease, _ driver: DriverUnderTest) async throws {
            switch self {
            case .postponed:
                _ = try await driver.jobs.postpone(
                    lease, until: driver.clock.now + 60, error: .sample(), isAttempt: true)
            case .released: try await driver.jobs.release([lease])
            case .lost:
                driver.clock.advance(61)
                try await askUntil("the lease is taken back") {
                    _ = try await driver.claim()
                    return try await driver.job(lease.job).state != .running
                }
            }
        }
    }

    /// One whose caller wants to be told, of a batch with a key.
    private static func wanting(_ url: String) -> JobSubmission {
        var submission = JobSubmission.sample(host: nil)
        submission.request.jobOptions.callbackURL = url
        submission.origin = JobOrigin(batch: "b", idempotencyKey: "k")
        return submission
    }

    /// Jobs that have failed, and whose callers are to be told so.
    @discardableResult
    static func told(_ driver: DriverUnderTest, _ urls: String...) async throws -> [JobID] {
        var ids: [JobID] = []
        for url in urls {
            ids += try await driver.enqueue(.sample(host: nil))
            try await end(.failed(.rejected(.mediaCorrupt)), url, driver)
        }
        return ids
    }

    private static func end(_ ending: JobCompletion, _ url: String, _ driver: DriverUnderTest) async throws {
        let lease = try await driver.claimOne().lease
        #expect(try await driver.jobs.finish(lease, ending, notice: .sample(url)))
    }

    static func claim(_ driver: DriverUnderTest, _ count: Int = 10) async throws -> [Webhook] {
        try await driver.jobs.claimWebhooks(count, lease: .seconds(60))
    }
}
