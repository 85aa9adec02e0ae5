import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

/// The behavior that every `WebhookOutbox` has.
enum OutboxConformance {
    static let behaviors = [
        Behavior("A finished job's webhook is claimed once") { driver in
            try await addWebhooks(driver, "https://hooks.example/a?token=secret")
            #expect(try await driver.jobs.nextWebhookDue() == driver.clock.now)
            let webhook = try #require(try await claim(driver).first)
            #expect(webhook.notice == .sample("https://hooks.example/a?token=secret") && webhook.attempts == 0)
            #expect(webhook.state == .pending && webhook.createdAt == driver.clock.now)
            #expect(try await claim(driver).isEmpty)
            #expect(try await driver.jobs.nextWebhookDue() == nil)
        },
        Behavior("A webhook whose lease expired is due again") { driver in
            try await addWebhooks(driver, "https://hooks.example/")
            let first = try await claim(driver)
            driver.clock.jump(86_400)
            #expect(try await claim(driver).isEmpty)
            driver.clock.advance(61)
            #expect(try await driver.jobs.nextWebhookDue() != nil)
            #expect(try await claim(driver).map(\.id) == first.map(\.id))
        },
        Behavior("A waiting webhook is due by the steady clock, however the wall clock is set") { driver in
            try await addWebhooks(driver, "https://hooks.example/")
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
        Behavior("Setting the wall clock forward does not make a webhook due early") { driver in
            try await addWebhooks(driver, "https://hooks.example/")
            let id = try #require(try await claim(driver).first).id
            try await driver.jobs.record(id, .retry(at: driver.clock.now + 5, status: 502, error: "It answered 502."))
            driver.clock.jump(3_600)
            #expect(try await claim(driver).isEmpty)
            driver.clock.advance(5)
            #expect(try await claim(driver).map(\.id) == [id])
        },
        Behavior("After a restart, a webhook that a wrong clock postponed is due by its schedule") { driver in
            try await addWebhooks(driver, "https://hooks.example/")
            driver.clock.jump(3_600)
            let id = try #require(try await claim(driver).first).id
            try await driver.jobs.record(id, .retry(at: driver.clock.now + 5, status: 502, error: "It answered 502."))
            driver.clock.jump(-3_600)
            let next = try await driver.restarted()
            next.clock.advance(6)
            #expect(try await claim(next).map(\.id) == [id])
        },
        Behavior("The result of an attempt is stored") { driver in
            try await addWebhooks(driver, "https://hooks.example/")
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
        Behavior("A receiver with a long backlog does not block others") { driver in
            for number in 0..<20 { try await addWebhooks(driver, "https://down.example/\(number)") }
            driver.clock.advance(1)
            try await addWebhooks(driver, "https://up.example/")
            let claimed = try await claim(driver, 30)
            #expect(claimed.count == Limits.webhooksPerHostMax + 1 && claimed.last?.notice.host == "up.example:443")
            #expect(try await claim(driver, 30).isEmpty)
        },
        Behavior("Pending webhooks to a URL that no longer exists are given up") { driver in
            let gone = "https://hooks.example/gone"
            try await addWebhooks(driver, gone, gone, "https://hooks.example/here")
            #expect(try await driver.jobs.giveUpWebhooks(to: gone, error: "It is gone.") == 2)
            #expect(try await claim(driver).map(\.notice.url) == ["https://hooks.example/here"])
            #expect(try await driver.jobs.webhookCounts() == [.pending: 1, .delivered: 0, .givenUp: 2])
        },
        Behavior("Replayed webhooks keep their ids and restart the schedule") { driver in
            try await addWebhooks(driver, "https://hooks.example/1", "https://hooks.example/2")
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
        Behavior("A delivered webhook's URL is redacted, and replayed while its job has the secrets") { driver in
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
            let listed = try await driver.jobs.webhooks(WebhookFilter(), after: nil, limit: 9).webhooks
            #expect(listed.map(\.notice.url) == Array(repeating: "https://hooks.example/?token=REDACTED", count: 2))
            #expect(try await driver.jobs.replayWebhooks(WebhookFilter(states: [.delivered])) == 1)
            #expect(try await claim(driver).map(\.notice.url) == [url])
        },
        Behavior("Webhooks are found by a part of their URL, their job or its caller's id, which they show") { driver in
            let named = try await driver.enqueue(.sample(id: "push-4711"))[0]
            let claimed = try await driver.claimOne()
            let notice = WebhookNotice(url: "https://hooks.example/a", event: .attachmentPrepared, body: "{}")
            _ = try await driver.jobs.finish(claimed.lease, .succeeded(.sample(), .make()), notice: notice)
            for search in ["hooks.EXAMPLE/a", "4711", String(named.text.suffix(12))] {
                let found = try await driver.jobs.webhooks(WebhookFilter(search: search), after: nil, limit: 9).webhooks
                #expect(found.map(\.job) == [named] && found.map(\.callerID) == ["push-4711"], "\(search)")
            }
            #expect(try await driver.jobs.webhooks(WebhookFilter(search: "%"), after: nil, limit: 9).webhooks.isEmpty)
        },
        Behavior("The secret of a sealed result is in its webhook and result alone, until the webhook arrived") {
            driver in
            let secret = SealedSecret.make()
            var manifest = Manifest.sample()
            manifest.sealed = ManifestSeal(version: 1, secret: secret)
            var submission = JobSubmission.sample()
            submission.request.jobOptions.callbackURL = "https://hooks.example/a"
            let id = try await driver.enqueue(submission)[0]
            let claimed = try await driver.claimOne()
            let ending = JobCompletion.succeeded(manifest, .make())
            let notice = try #require(WebhookNotice(for: claimed, ending, at: nil))
            _ = try await driver.jobs.finish(claimed.lease, ending, notice: notice)
            #expect(try await driver.job(id).result?.sealed?.secret == nil)
            #expect(try await driver.job(id).result?.sealed?.version == 1)
            #expect(try await driver.jobs.resultSecret(of: id) == secret)
            #expect(try await driver.jobs.withSecret(driver.job(id)).result?.sealed?.secret == secret)
            let webhook = try #require(try await claim(driver).first)
            #expect(webhook.notice.url == "https://hooks.example/a" && webhook.notice.body.contains(secret.text))
            let listed = try await driver.jobs.webhooks(WebhookFilter(), after: nil, limit: 9).webhooks
            #expect(listed.count == 1 && !listed[0].notice.body.contains(secret.text))
            #expect(listed[0].notice.body.contains(#""sealed":{"version":1}"#))
            try await driver.jobs.record(webhook.id, .delivered(status: 204))
            #expect(try await driver.jobs.resultSecret(of: id) == nil)
            #expect(try await driver.jobs.replayWebhooks(WebhookFilter(states: [.delivered])) == 0)
        },
        Behavior("The secret of a sealed result without a webhook is kept while its job is") { driver in
            var manifest = Manifest.sample()
            manifest.sealed = ManifestSeal(version: 1, secret: .make())
            let id = try await driver.ended(.succeeded(manifest, .make()))
            #expect(try await driver.jobs.resultSecret(of: id) == manifest.sealed?.secret)
            #expect(try await driver.jobs.purge(JobFilter(states: [.succeeded])) == 1)
            #expect(try await driver.jobs.resultSecret(of: id) == nil)
        },
        Behavior("A batch sends one webhook, when the last of its jobs has ended") { driver in
            let batch = JobID.make()
            var (first, second) = (JobSubmission.sample(), JobSubmission.sample())
            (first.origin.batch, second.origin.batch) = (batch.text, batch.text)
            let ids = try await driver.enqueue(first, second)
            for _ in 0..<2 { try await driver.jobs.notify("https://hooks.example/?key=abc", whenDone: batch) }
            let running = try await driver.claimOne()
            _ = try await driver.jobs.finish(running.lease, .failed(.rejected(.mediaCorrupt)), notice: nil)
            #expect(try await driver.jobs.nextWebhookDue() == nil)
            #expect(try await driver.jobs.claimWebhooks(5, lease: .seconds(60)).isEmpty)
            _ = try await driver.jobs.cancel(ids[1])
            #expect(try await driver.jobs.nextWebhookDue() != nil)
            let claimed = try await driver.jobs.claimWebhooks(5, lease: .seconds(60))
            #expect(claimed.map(\.notice.url) == ["https://hooks.example/?key=abc"])
            #expect(claimed.map(\.notice.event) == [.batchDone] && claimed.map(\.job) == [batch])
            let body = try #require(claimed.first?.notice.body)
            #expect(body.contains(#""jobs":2"#) && body.contains(#""cancelled":1"#) && body.contains(#""done":true"#))
            _ = try await driver.jobs.retry(ids[0])
            let again = try await driver.claimOne()
            _ = try await driver.jobs.finish(again.lease, .cancelled, notice: nil)
            #expect(try await driver.jobs.claimWebhooks(5, lease: .seconds(60)).isEmpty)
        },
        Behavior("Webhooks are listed in pages, by state and by job") { driver in
            for number in 0..<5 {
                try await addWebhooks(driver, "https://hooks.example/\(number)")
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
        Behavior("A retried job keeps the pending webhook of its first result") { driver in
            let id = try await addWebhooks(driver, "https://hooks.example/first")[0]
            _ = try await driver.jobs.retry(id)
            try await end(.succeeded(.sample(), .make()), "https://hooks.example/second", driver)
            let urls = try await claim(driver).map(\.notice.url)
            #expect(Set(urls) == ["https://hooks.example/first", "https://hooks.example/second"])
        },
        // Issue 19, item 7.
        Behavior("A job cancelled while queued sends a webhook to its own URL, with its origin") { driver in
            let id = try await driver.enqueue(submission(callback: "https://hooks.example/?token=secret"))[0]
            _ = try await driver.enqueue(.sample(host: nil))
            _ = try await driver.jobs.cancel(id)
            let webhook = try #require(try await claim(driver).first)
            #expect(webhook.job == id && webhook.notice.event == .jobCancelled)
            #expect(webhook.notice.url == "https://hooks.example/?token=secret")
            #expect(webhook.notice.body.contains(#""id":"\#(id)""#) && webhook.notice.body.contains(#""batch":"b""#))
            #expect(webhook.notice.body.contains(#""idempotencyKey":"k""#) && !webhook.notice.body.contains("secret"))
        },
        Behavior("A job cancelled while running sends one webhook, however its run ends") { driver in
            for end in RunEnd.allCases {
                let id = try await driver.enqueue(submission(callback: "https://hooks.example/\(end)"))[0]
                let lease = try await driver.claimOne().lease
                _ = try await driver.jobs.cancel(id)
                #expect(try await claim(driver).isEmpty)
                try await end.apply(to: lease, driver)
                #expect(try await driver.job(id).state == .cancelled, "\(end)")
                let webhooks = try await claim(driver)
                #expect(webhooks.map(\.notice.event) == [.jobCancelled], "\(end)")
                #expect(webhooks.map(\.notice.url) == ["https://hooks.example/\(end)"])
                for webhook in webhooks { try await driver.jobs.record(webhook.id, .delivered(status: 204)) }
            }
        },
        Behavior("The traces of a job and of its webhook are returned by claims, also after a restart") { driver in
            let parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
            let traces = [
                TraceHeaders(traceparent: parent, tracestate: "rojo=1"),
                TraceHeaders(traceparent: parent.replacing("00f067", with: "11f067")),
            ]
            var submission = JobSubmission.sample(host: nil)
            submission.origin.trace = traces[0]
            _ = try await driver.enqueue(submission)
            let job = try await driver.claimOne()
            #expect(job.job.origin.trace == traces[0])
            var notice = WebhookNotice.sample("https://hooks.example/")
            notice.trace = traces[1]
            #expect(try await driver.jobs.finish(job.lease, .failed(.rejected(.mediaCorrupt)), notice: notice))
            let next = try await driver.restarted()
            next.clock.advance(6)
            #expect(try await claim(next).map(\.notice.trace) == [traces[1]])
            #expect(try await next.job(job.job.id).origin.trace == traces[0])
        },
        Behavior("A job's origin is returned by claims and by repeated submissions") { driver in
            let key = IdempotencyKey(caller: "me", key: "k", bodyDigest: "d")
            let submissions = [
                submission(callback: "https://hooks.example/1"), submission(callback: "https://hooks.example/2"),
            ]
            let first = try await driver.jobs.enqueue(submissions, idempotency: key)
            let second = try await driver.jobs.enqueue(submissions, idempotency: key)
            let origin = JobOrigin(batch: "b", idempotencyKey: "k")
            #expect(first.jobs.map(\.origin) == [origin, origin] && second.jobs.map(\.origin) == [origin, origin])
            #expect(try await driver.claim(2).map(\.job.origin) == [origin, origin])
            #expect(try await driver.job(first.jobs[0].id).origin == origin)
        },
        Behavior("Webhooks are removed with their job") { driver in
            let id = try await addWebhooks(driver, "https://hooks.example/")[0]
            #expect(try await driver.jobs.purge(JobFilter(ids: [id])) == 1)
            #expect(try await driver.jobs.webhooks(WebhookFilter(), after: nil, limit: 9).webhooks.isEmpty)
            #expect(try await driver.jobs.nextWebhookDue() == nil)
        },
    ]

    /// How a cancelled run can end.
    private enum RunEnd: CaseIterable {
        case postponed, released, lost

        func apply(to lease: JobLease, _ driver: DriverUnderTest) async throws {
            switch self {
            case .postponed:
                _ = try await driver.jobs.postpone(
                    lease, until: driver.clock.now + 60, error: .sample(), isAttempt: true)
            case .released: try await driver.jobs.release([lease])
            case .lost:
                driver.clock.advance(61)
                try await pollUntil("the lease is reclaimed") {
                    _ = try await driver.claim()
                    return try await driver.job(lease.job).state != .running
                }
            }
        }
    }

    /// A submission with a callback URL, of a batch with an idempotency key.
    private static func submission(callback url: String) -> JobSubmission {
        var submission = JobSubmission.sample(host: nil)
        submission.request.jobOptions.callbackURL = url
        submission.origin = JobOrigin(batch: "b", idempotencyKey: "k")
        return submission
    }

    /// Lets a job fail for each URL, with a webhook to it.
    @discardableResult
    static func addWebhooks(_ driver: DriverUnderTest, _ urls: String...) async throws -> [JobID] {
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
