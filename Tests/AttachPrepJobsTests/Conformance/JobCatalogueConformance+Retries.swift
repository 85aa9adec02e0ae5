import AttachPrepJobs
import RichPush
import Testing

/// Jobs that are queued again together.
extension JobCatalogConformance {
    static let retries: [Behaviour] = [
        Behaviour("failed, dead and cancelled jobs are queued again, and no others") { driver in
            let failed = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            let dead = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            let done = try await driver.ended(.succeeded(.sample(), .make()))
            let cancelled = try await driver.enqueue(.sample())[0]
            _ = try await driver.jobs.cancel(cancelled)
            driver.clock.advance(10)
            #expect(try await driver.jobs.retry(JobFilter(states: [.dead, .succeeded])) == 1)
            let job = try await driver.job(dead)
            #expect(job.state == .queued && job.attempts == 0 && job.error == nil && job.finishedAt == nil)
            #expect(try await driver.jobs.retry(JobFilter()) == 2)
            #expect(try await driver.jobs.retry(JobFilter()) == 0)
            #expect(try await names(driver, JobFilter(states: [.queued])) == [failed, dead, cancelled])
            #expect(try await driver.job(done).state == .succeeded)
            #expect(Set(try await driver.claim(5).map(\.job.id)) == [failed, dead, cancelled])
        },
        Behaviour("names, searches and codes choose what is queued again") { driver in
            let first = try await driver.ended(.dead(.rejected(.downloadTimeout)), .sample("https://cdn.example/cat"))
            let second = try await driver.ended(.dead(.rejected(.mediaCorrupt)), .sample("https://cdn.example/dog"))
            let third = try await driver.ended(.dead(.rejected(.downloadDNS)), .sample("https://cdn.example/cow"))
            #expect(try await driver.jobs.retry(JobFilter(search: "/cat")) == 1)
            #expect(try await driver.jobs.retry(JobFilter(errors: [.mediaCorrupt])) == 1)
            #expect(try await driver.jobs.retry(JobFilter(ids: [first, third])) == 1)
            #expect(try await names(driver, JobFilter(states: [.queued])) == [first, second, third])
        },
        Behaviour("as many are queued again as the queue takes, the earliest first") { driver in
            var dead: [JobID] = []
            for _ in 0..<3 {
                dead.append(try await driver.ended(.dead(.rejected(.downloadTimeout))))
                driver.clock.advance(1)
            }
            _ = try await driver.jobs.enqueue(
                (0..<DriverUnderTest.queuedJobsMax - 2).map { _ in .sample() }, idempotency: nil)
            #expect(try await driver.jobs.retry(JobFilter(states: [.dead])) == 2)
            #expect(try await names(driver, JobFilter(states: [.dead])) == [dead[2]])
            #expect(try await driver.jobs.retry(JobFilter(states: [.dead])) == 0)
        },
        Behaviour("a cancelled job whose secrets are gone stays cancelled, the others are queued") { driver in
            let secret = try await driver.enqueue(.sample(headers: ["Authorization": "Bearer x"]))[0]
            let plain = try await driver.enqueue(.sample())[0]
            for id in [secret, plain] { _ = try await driver.jobs.cancel(id) }
            #expect(try await driver.jobs.retry(JobFilter(states: [.cancelled])) == 1)
            #expect(try await driver.job(secret).state == .cancelled)
            #expect(try await driver.job(plain).state == .queued)
        },
        Behaviour("who listens hears of each that is queued again") { driver in
            let id = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            let changes = driver.feed.changes(backlog: 10)
            _ = try await driver.jobs.retry(JobFilter(states: [.dead]))
            var heard = changes.makeAsyncIterator()
            #expect(await heard.next() == JobFeed.Change(job: id, state: .queued))
        },
    ]
}
