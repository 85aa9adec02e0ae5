import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import Testing

/// The behavior that every `JobCatalog` has; each test gets a new driver.
enum JobCatalogConformance {
    static let behaviors = lists + counts + pace + removal + retries + lines

    static let lists: [Behavior] = [
        Behavior("Jobs are listed in pages, newest first") { driver in
            for _ in 0..<7 {
                _ = try await driver.enqueue(.sample())
                driver.clock.advance(1)
            }
            var cursor: JobID?
            var pages: [[JobID]] = []
            repeat {
                let page = try await driver.jobs.list(JobFilter(), after: cursor, limit: 3)
                pages.append(page.jobs.map(\.id))
                cursor = page.next
            } while cursor != nil
            #expect(pages.map(\.count) == [3, 3, 1])
            #expect(pages.joined().elementsEqual(Set(pages.joined()).sorted(by: >)))
        },
        Behavior("A full last page has no next page") { driver in
            _ = try await driver.enqueue(.sample(), .sample())
            #expect(try await driver.jobs.list(JobFilter(), after: nil, limit: 2).next == nil)
        },
        Behavior("States, ids and creation times filter the list") { driver in
            let failed = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            let dead = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            driver.clock.advance(10)
            let queued = try await driver.enqueue(.sample())[0]
            #expect(try await ids(driver, JobFilter(states: [.dead, .failed])) == [failed, dead])
            #expect(try await ids(driver, JobFilter(states: [.running])).isEmpty)
            #expect(try await ids(driver, JobFilter(states: [])).isEmpty)
            #expect(try await ids(driver, JobFilter(ids: [queued, .make()])) == [queued])
            #expect(try await ids(driver, JobFilter(createdBefore: driver.clock.now)) == [failed, dead])
            #expect(try await ids(driver, JobFilter(createdAfter: driver.clock.now)) == [queued])
            #expect(try await ids(driver, JobFilter(worker: "nobody")).isEmpty)
            #expect(try await driver.jobs.count(JobFilter()) == 3)
            #expect(try await driver.jobs.count(JobFilter(states: [.failed, .dead])) == 2)
        },
        Behavior("Kinds of attachments and workers filter the list") { driver in
            var manifest = Manifest.sample(.converted)
            manifest.attachment = ManifestFile(
                file: "attachment.mp4", type: try #require(AttachmentType(uti: "public.mpeg-4")), bytes: 4, sha256: "00"
            )
            let movie = try await driver.ended(.succeeded(manifest, .make()))
            _ = try await driver.ended(.succeeded(.sample(.converted), .make()), .sample("https://cdn.example/dog"))
            #expect(try await ids(driver, JobFilter(kind: .movie)) == [movie])
            #expect(try await ids(driver, JobFilter(kind: .audio)).isEmpty)
            let running = try await driver.enqueue(.sample("https://cdn.example/cow"))[0]
            _ = try await driver.claimOne()
            #expect(try await ids(driver, JobFilter(worker: "worker")) == [running])
            #expect(try await driver.jobs.count(JobFilter(worker: "worker")) == 1)
        },
        Behavior("A job names the worker of its last attempt, also after its end, until it is retried") { driver in
            let waiting = try await driver.enqueue(.sample("https://cdn.example/cow"))[0]
            #expect(try await driver.jobs.job(waiting)?.worker == nil)
            _ = try await driver.claimOne()
            #expect(try await driver.jobs.job(waiting)?.worker == "worker")
            let failed = try await driver.ended(.failed(.rejected(.mediaCorrupt)), .sample("https://cdn.example/dog"))
            let listed = try await driver.jobs.list(JobFilter(ids: [failed]), after: nil, limit: 1).jobs
            #expect(listed.map(\.worker) == ["worker"])
            #expect(try await driver.jobs.retry(failed).worker == nil)
        },
        Behavior("A search matches parts of ids, URLs and error codes, without wildcards") { driver in
            let named = try await driver.enqueue(.sample(id: "Mine_100"))[0]
            let addressed = try await driver.enqueue(.sample("https://cdn.example/CAT.jpg"))[0]
            let failed = try await driver.ended(
                .failed(.rejected(.mediaCorrupt)), .sample(host: nil, priority: .high))
            #expect(try await ids(driver, JobFilter(search: "mine_1")) == [named])
            #expect(try await ids(driver, JobFilter(search: "cat.JPG")) == [addressed])
            #expect(try await ids(driver, JobFilter(search: "media.corrupt")) == [failed])
            #expect(try await ids(driver, JobFilter(search: String(named.text.suffix(12)))) == [named])
            #expect(try await ids(driver, JobFilter(search: "cat%jpg")).isEmpty)
            #expect(try await ids(driver, JobFilter(search: "mine\\")).isEmpty)
        },
        Behavior("A search finds neither headers nor secrets of URLs, and lists show none") { driver in
            var secret = JobSubmission.sample(
                "https://me:pass@cdn.example/a.jpg?token=hidden", headers: ["Authorization": "Bearer hidden"])
            secret.request.jobOptions.callbackURL = "https://hooks.example/?key=hidden"
            let id = try await driver.enqueue(secret)[0]
            for text in ["hidden", "pass@", "Bearer"] {
                #expect(try await ids(driver, JobFilter(search: text)).isEmpty, "\(text)")
            }
            let listed = try await driver.jobs.list(JobFilter(ids: [id]), after: nil, limit: 1).jobs
            let text = String(decoding: try JSONEncoder().encode(listed), as: UTF8.self)
            #expect(!text.contains("hidden") && !text.contains("pass") && text.contains("REDACTED"), "\(text)")
        },
        Behavior("Listed and found jobs have the caller's id") { driver in
            let named = try await driver.enqueue(.sample(id: "push-4711"))[0]
            for filter in [JobFilter(), JobFilter(search: "push-47")] {
                let page = try await driver.jobs.list(filter, after: nil, limit: 10)
                #expect(page.jobs.map(\.id) == [named])
                #expect(page.jobs.map(\.request.id) == ["push-4711"])
            }
        },
        Behavior("A search is paged and can be combined with states, ids and error codes") { driver in
            var dead: [JobID] = []
            for number in 0..<5 {
                let submission = JobSubmission.sample("https://cdn.example/cat\(number).jpg")
                dead.append(try await driver.ended(.dead(.rejected(.downloadTimeout)), submission))
                driver.clock.advance(1)
            }
            for number in 0..<5 { _ = try await driver.enqueue(.sample("https://cdn.example/dog\(number).jpg")) }
            let filter = JobFilter(states: [.dead, .queued], search: "/cat")
            let first = try await driver.jobs.list(filter, after: nil, limit: 3)
            #expect(first.jobs.map(\.id) == Array(dead.reversed().prefix(3)))
            let last = try await driver.jobs.list(filter, after: first.next, limit: 3)
            #expect(last.jobs.map(\.id) == Array(dead.reversed().suffix(2)) && last.next == nil)
            #expect(try await ids(driver, JobFilter(states: [.dead], search: "/dog")).isEmpty)
            #expect(try await ids(driver, JobFilter(search: "cat", ids: [dead[1], .make()])) == [dead[1]])
            #expect(try await ids(driver, JobFilter(search: "cat0", errors: [.downloadTimeout])) == [dead[0]])
        },
        Behavior("Jobs are found by exactly their caller's id, batch, idempotency key, tags and host") { driver in
            var chosen = JobSubmission.sample(host: "cdn.example", id: "push-47")
            chosen.origin = JobOrigin(batch: "batch-1", idempotencyKey: "key-1")
            chosen.origin.caller = "me"
            chosen.request.jobOptions.tags = ["campaign=spring", "eu"]
            var other = JobSubmission.sample(host: "xcdn.example", id: "push-471")
            other.origin = JobOrigin(batch: "batch-11", idempotencyKey: "key-11")
            other.request.jobOptions.tags = ["campaign=spring", "us"]
            let id = try await driver.enqueue(chosen)[0]
            let otherID = try await driver.enqueue(other)[0]
            let filters: [(inout JobFilter) -> Void] = [
                { $0.callerID = "push-47" }, { $0.batch = "batch-1" }, { $0.idempotencyKey = "key-1" },
                { $0.tags = ["eu"] }, { $0.tags = ["eu", "campaign=spring"] }, { $0.host = "cdn.example" },
            ]
            func expectFound() async throws {
                for change in filters {
                    var filter = JobFilter()
                    change(&filter)
                    #expect(try await ids(driver, filter) == [id], "\(filter)")
                    #expect(try await driver.jobs.count(filter) == 1)
                }
            }
            try await expectFound()
            var both = JobFilter()
            both.tags = ["campaign=spring"]
            #expect(try await ids(driver, both) == [id, otherID])
            both.host = "%cdn.example"
            #expect(try await ids(driver, both).isEmpty)
            for claimed in try await driver.claim(5) {
                _ = try await driver.jobs.finish(claimed.lease, .failed(.rejected(.mediaCorrupt)), notice: nil)
            }
            try await expectFound()
            let job = try await driver.jobs.retry(id)
            #expect(job.origin == chosen.origin && job.request.jobOptions.tags == ["campaign=spring", "eu"])
            try await expectFound()
            var purged = JobFilter()
            purged.tags = ["us"]
            #expect(try await driver.jobs.purge(purged) == 1)
            #expect(try await ids(driver, JobFilter()) == [id])
        },
        Behavior("Error codes filter failed and dead jobs") { driver in
            let failed = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            let dead = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            _ = try await driver.enqueue(.sample())
            #expect(try await ids(driver, JobFilter(errors: [.mediaCorrupt])) == [failed])
            #expect(try await ids(driver, JobFilter(errors: [.mediaCorrupt, .downloadTimeout])) == [failed, dead])
            #expect(try await ids(driver, JobFilter(states: [.dead], errors: [.mediaCorrupt])).isEmpty)
            #expect(try await ids(driver, JobFilter(states: [.queued], errors: [.mediaCorrupt])).isEmpty)
            #expect(try await ids(driver, JobFilter(errors: [])).isEmpty)
        },
    ]

    static func ids(_ driver: DriverUnderTest, _ filter: JobFilter) async throws -> Set<JobID> {
        Set(try await driver.jobs.list(filter, after: nil, limit: 100).jobs.map(\.id))
    }

    static let counts: [Behavior] = [
        Behavior("An empty queue has a count for every state") { driver in
            let counts = try await driver.jobs.counts()
            #expect(counts.byState == Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0, 0) }))
            #expect(counts.due == 0 && counts.oldestDue == nil && counts.byError.isEmpty)
        },
        Behavior("Jobs are counted by state and error, and due jobs are counted") { driver in
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            for _ in 0..<2 { _ = try await driver.ended(.dead(.rejected(.downloadTimeout))) }
            _ = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            let since = driver.clock.now
            _ = try await driver.enqueue(.sample(), .sample(priority: .bulk), .sample(notBefore: since + 60))
            driver.clock.advance(30)
            _ = try await driver.enqueue(.sample())
            let counts = try await driver.jobs.counts()
            #expect(counts.byState[.succeeded] == 1 && counts.byState[.dead] == 2 && counts.byState[.queued] == 4)
            #expect(counts.byError == [.downloadTimeout: 2, .mediaCorrupt: 1])
            #expect(counts.due == 3 && counts.oldestDue == since)
        },
    ]

    static let removal: [Behavior] = [
        Behavior("Many jobs are cancelled by a filter, running ones when their worker next checks") { driver in
            var batch = JobSubmission.sample()
            batch.origin.batch = "one"
            var second = JobSubmission.sample()
            second.origin.batch = "one"
            let ids = try await driver.enqueue(batch, second, .sample())
            let running = try await driver.claimOne()
            var filter = JobFilter()
            filter.batch = "one"
            #expect(running.job.id == ids[0])
            #expect(try await driver.jobs.cancel(filter) == 2)
            #expect(try await driver.job(ids[1]).state == .cancelled)
            #expect(try await driver.jobs.extend([running.lease], by: .seconds(15)) == [ids[0]: .cancelled])
            #expect(try await driver.job(ids[2]).state == .queued)
            #expect(try await driver.jobs.counts().byState[.cancelled] == 1)
        },
        Behavior("Queued jobs are moved into another lane by a filter, also parked ones") { driver in
            let ids = try await driver.enqueue(
                .sample(host: "slow.example", priority: .bulk), .sample(host: "slow.example", priority: .bulk))
            let first = try await driver.claim(5, hostLimit: 1)
            #expect(first.map(\.job.id) == [ids[0]])
            driver.clock.advance(60)
            #expect(try await driver.jobs.change(JobFilter(states: [.queued]), to: .high) == 1)
            #expect(try await driver.jobs.change(JobFilter(states: [.queued]), to: .high) == 0)
            #expect(try await driver.job(ids[1]).request.jobOptions.priority == .high)
            #expect(try await driver.job(ids[0]).request.jobOptions.priority == .bulk)
            #expect(try await driver.claim(5, hostLimit: 2).map(\.job.id) == [ids[1]])
        },
        Behavior("A purge removes finished jobs only") { driver in
            let dead = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            let queued = try await driver.enqueue(.sample())[0]
            #expect(try await driver.jobs.purge(JobFilter(states: [.dead, .queued])) == 1)
            #expect(try await driver.jobs.job(dead) == nil)
            #expect(try await driver.jobs.purge(JobFilter()) == 1)
            #expect(try await ids(driver, JobFilter()) == [queued])
            #expect(try await driver.jobs.counts().byState[.dead] == 0)
        },
    ]

    static let lines: [Behavior] = [
        Behavior("A job has its own log lines in order") { driver in
            let ids = try await driver.enqueue(.sample(), .sample())
            try await driver.jobs.append([line(ids[0], "one"), line(ids[1], "other"), line(ids[0], "two")])
            try await driver.jobs.append([line(ids[0], "three"), line(.make(), "of no job")])
            #expect(try await driver.jobs.log(of: ids[0]).map(\.text) == ["one", "two", "three"])
            #expect(try await driver.jobs.log(of: ids[1]) == [line(ids[1], "other")])
            #expect(try await driver.jobs.log(of: .make()).isEmpty)
        },
        Behavior("The oldest log lines over the limit are dropped, and long lines are cut") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let count = Limits.jobLogLinesMax
            try await driver.jobs.append((0..<count).map { line(id, "\($0)") })
            try await driver.jobs.append([line(id, String(repeating: "x", count: Limits.jobLogBytesMax + 9))])
            let log = try await driver.jobs.log(of: id)
            #expect(log.count == count && log.first?.text == "1")
            #expect(log.last?.text == String(repeating: "x", count: Limits.jobLogBytesMax) + "…")
        },
        Behavior("Log lines are removed with their job") { driver in
            let id = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            try await driver.jobs.append([line(id, "one")])
            _ = try await driver.jobs.purge(JobFilter())
            #expect(try await driver.jobs.log(of: id).isEmpty)
        },
    ]

    private static func line(_ job: JobID, _ text: String) -> JobLogLine {
        JobLogLine(job: job, date: Date(timeIntervalSince1970: 1_795_294_262), level: "info", text: text)
    }
}

/// Finished jobs and latencies of an hour.
extension JobCatalogConformance {
    static let pace: [Behavior] = [
        Behavior("An hour without finished jobs has sixty empty minutes") { driver in
            _ = try await driver.enqueue(.sample())
            let pace = try await driver.jobs.pace(until: driver.clock.now)
            #expect(pace == JobPace(until: driver.clock.now) && pace.latencies.percentile(0.5) == nil)
        },
        Behavior("Finished jobs are counted in their minute, cancelled ones are not") { driver in
            let start = driver.clock.now
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            driver.clock.advance(30)
            _ = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            driver.clock.advance(45)
            _ = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            _ = try await driver.jobs.cancel(try await driver.enqueue(.sample())[0])
            let pace = try await driver.jobs.pace(until: start + 3600)
            #expect(pace.minutes[0].succeeded == 1 && pace.minutes[0].failed == 1)
            #expect(pace.minutes[1].succeeded == 1 && pace.minutes[1].failed == 1)
            #expect(pace.minutes[2...].allSatisfy { $0 == JobPace.Interval() })
            // The end of an hour belongs to the next one.
            #expect(try await driver.jobs.pace(until: start) == JobPace(until: start))
            let history = try await driver.jobs.history(until: start + 3600)
            let succeeded = pace.minutes.map(\.succeeded).reduce(0, +)
            #expect(history.count == JobPace.hoursCount && history.last?.succeeded == succeeded)
            #expect(history.last?.latencies == pace.latencies && history.first == JobPace.Interval())
            let later = try await driver.jobs.pace(until: start + 3600.001)
            #expect(later.minutes[0].succeeded == 0 && later.minutes[0].failed == 1)
        },
        Behavior("A job's latency runs from its submission or its notBefore") { driver in
            let start = driver.clock.now
            let waited = try await driver.enqueue(.sample(notBefore: start + 500))
            _ = try await driver.enqueue(.sample())
            let first = try await driver.claimOne()
            driver.clock.advance(10)
            _ = try await driver.jobs.finish(first.lease, .succeeded(.sample(), .make()), notice: nil)
            driver.clock.advance(490)
            let second = try await driver.claimOne()
            #expect(second.job.id == waited[0])
            driver.clock.advance(10)
            _ = try await driver.jobs.finish(second.lease, .succeeded(.sample(), .make()), notice: nil)
            let buckets = try await driver.jobs.pace(until: start + 3600).latencies.counts
            let expected = LatencyHistogram.boundsMilliseconds.count { $0 <= 10_000 }
            #expect(buckets[expected] == 2 && buckets.reduce(0, +) == 2)
        },
        Behavior("A retried job is not counted as finished") { driver in
            let id = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.jobs.retry(id)
            let end = driver.clock.now + 60
            #expect(try await driver.jobs.pace(until: end) == JobPace(until: end))
        },
    ]
}

/// Bulk retries.
extension JobCatalogConformance {
    static let retries: [Behavior] = [
        Behavior("A bulk retry queues failed, dead and cancelled jobs only") { driver in
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
            #expect(try await ids(driver, JobFilter(states: [.queued])) == [failed, dead, cancelled])
            #expect(try await driver.job(done).state == .succeeded)
            #expect(Set(try await driver.claim(5).map(\.job.id)) == [failed, dead, cancelled])
        },
        Behavior("Ids, a search and error codes select the jobs of a bulk retry") { driver in
            let first = try await driver.ended(.dead(.rejected(.downloadTimeout)), .sample("https://cdn.example/cat"))
            let second = try await driver.ended(.dead(.rejected(.mediaCorrupt)), .sample("https://cdn.example/dog"))
            let third = try await driver.ended(.dead(.rejected(.downloadDNS)), .sample("https://cdn.example/cow"))
            #expect(try await driver.jobs.retry(JobFilter(search: "/cat")) == 1)
            #expect(try await driver.jobs.retry(JobFilter(errors: [.mediaCorrupt])) == 1)
            #expect(try await driver.jobs.retry(JobFilter(ids: [first, third])) == 1)
            #expect(try await ids(driver, JobFilter(states: [.queued])) == [first, second, third])
        },
        Behavior("A bulk retry fills the queue up to its limit, oldest jobs first") { driver in
            var dead: [JobID] = []
            for _ in 0..<3 {
                dead.append(try await driver.ended(.dead(.rejected(.downloadTimeout))))
                driver.clock.advance(1)
            }
            _ = try await driver.jobs.enqueue(
                (0..<DriverUnderTest.queuedJobsMax - 2).map { _ in .sample() }, idempotency: nil)
            #expect(try await driver.jobs.retry(JobFilter(states: [.dead])) == 2)
            #expect(try await ids(driver, JobFilter(states: [.dead])) == [dead[2]])
            #expect(try await driver.jobs.retry(JobFilter(states: [.dead])) == 0)
        },
        Behavior("A bulk retry skips cancelled jobs whose secrets were removed") { driver in
            let secret = try await driver.enqueue(.sample(headers: ["Authorization": "Bearer x"]))[0]
            let plain = try await driver.enqueue(.sample())[0]
            for id in [secret, plain] { _ = try await driver.jobs.cancel(id) }
            #expect(try await driver.jobs.retry(JobFilter(states: [.cancelled])) == 1)
            #expect(try await driver.job(secret).state == .cancelled)
            #expect(try await driver.job(plain).state == .queued)
        },
        Behavior("A bulk retry publishes a change for each job") { driver in
            let id = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            let changes = driver.feed.changes(backlog: 10)
            _ = try await driver.jobs.retry(JobFilter(states: [.dead]))
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next() == JobFeed.Change(job: id, state: .queued))
        },
    ]
}
