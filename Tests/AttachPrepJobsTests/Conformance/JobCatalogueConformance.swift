import AttachPrep
import AttachPrepJobs
import Foundation
import RichPush
import Testing

/// What a driver has to do to be a `JobCatalog`; each behaviour gets a driver of its own.
enum JobCatalogConformance {
    static let behaviours = lists + numbers + pace + removal + retries + lines

    static let lists: [Behaviour] = [
        Behaviour("jobs are listed by their names, the latest first, page by page") { driver in
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
        Behaviour("a last page that is full has no next one") { driver in
            _ = try await driver.enqueue(.sample(), .sample())
            #expect(try await driver.jobs.list(JobFilter(), after: nil, limit: 2).next == nil)
        },
        Behaviour("states, names and ages choose") { driver in
            let failed = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            let dead = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            driver.clock.advance(10)
            let queued = try await driver.enqueue(.sample())[0]
            #expect(try await names(driver, JobFilter(states: [.dead, .failed])) == [failed, dead])
            #expect(try await names(driver, JobFilter(states: [.running])).isEmpty)
            #expect(try await names(driver, JobFilter(states: [])).isEmpty)
            #expect(try await names(driver, JobFilter(ids: [queued, .make()])) == [queued])
            #expect(try await names(driver, JobFilter(createdBefore: driver.clock.now)) == [failed, dead])
        },
        Behaviour("a search finds parts of names, addresses and codes, and takes no sign for a pattern") { driver in
            let named = try await driver.enqueue(.sample(id: "Mine_100"))[0]
            let addressed = try await driver.enqueue(.sample("https://cdn.example/CAT.jpg"))[0]
            let failed = try await driver.ended(
                .failed(.rejected(.mediaCorrupt)), .sample(host: nil, priority: .high))
            #expect(try await names(driver, JobFilter(search: "mine_1")) == [named])
            #expect(try await names(driver, JobFilter(search: "cat.JPG")) == [addressed])
            #expect(try await names(driver, JobFilter(search: "media.corrupt")) == [failed])
            #expect(try await names(driver, JobFilter(search: String(named.text.suffix(12)))) == [named])
            #expect(try await names(driver, JobFilter(search: "cat%jpg")).isEmpty)
            #expect(try await names(driver, JobFilter(search: "mine\\")).isEmpty)
        },
        Behaviour("jobs that are listed or found carry the caller's id") { driver in
            let named = try await driver.enqueue(.sample(id: "push-4711"))[0]
            for filter in [JobFilter(), JobFilter(search: "push-47")] {
                let page = try await driver.jobs.list(filter, after: nil, limit: 10)
                #expect(page.jobs.map(\.id) == [named])
                #expect(page.jobs.map(\.request.id) == ["push-4711"])
            }
        },
        Behaviour("a search goes page by page as well, and together with states, names and codes") { driver in
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
            #expect(try await names(driver, JobFilter(states: [.dead], search: "/dog")).isEmpty)
            #expect(try await names(driver, JobFilter(search: "cat", ids: [dead[1], .make()])) == [dead[1]])
            #expect(try await names(driver, JobFilter(search: "cat0", errors: [.downloadTimeout])) == [dead[0]])
        },
        Behaviour("errors choose among failed and dead jobs") { driver in
            let failed = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            let dead = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            _ = try await driver.enqueue(.sample())
            #expect(try await names(driver, JobFilter(errors: [.mediaCorrupt])) == [failed])
            #expect(try await names(driver, JobFilter(errors: [.mediaCorrupt, .downloadTimeout])) == [failed, dead])
            #expect(try await names(driver, JobFilter(states: [.dead], errors: [.mediaCorrupt])).isEmpty)
            #expect(try await names(driver, JobFilter(states: [.queued], errors: [.mediaCorrupt])).isEmpty)
            #expect(try await names(driver, JobFilter(errors: [])).isEmpty)
        },
    ]

    static func names(_ driver: DriverUnderTest, _ filter: JobFilter) async throws -> Set<JobID> {
        Set(try await driver.jobs.list(filter, after: nil, limit: 100).jobs.map(\.id))
    }

    static let numbers: [Behaviour] = [
        Behaviour("an empty queue has a number for every state") { driver in
            let counts = try await driver.jobs.counts()
            #expect(counts.byState == Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0, 0) }))
            #expect(counts.due == 0 && counts.oldestDue == nil && counts.byError.isEmpty)
        },
        Behaviour("jobs are counted by state and error, and so are those that are due") { driver in
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

    static let removal: [Behaviour] = [
        Behaviour("finished jobs are purged, and no others") { driver in
            let dead = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            let queued = try await driver.enqueue(.sample())[0]
            #expect(try await driver.jobs.purge(JobFilter(states: [.dead, .queued])) == 1)
            #expect(try await driver.jobs.job(dead) == nil)
            #expect(try await driver.jobs.purge(JobFilter()) == 1)
            #expect(try await names(driver, JobFilter()) == [queued])
            #expect(try await driver.jobs.counts().byState[.dead] == 0)
        }
    ]

    static let lines: [Behaviour] = [
        Behaviour("a job has its own lines in their order") { driver in
            let ids = try await driver.enqueue(.sample(), .sample())
            try await driver.jobs.append([line(ids[0], "one"), line(ids[1], "other"), line(ids[0], "two")])
            try await driver.jobs.append([line(ids[0], "three"), line(.make(), "of nobody")])
            #expect(try await driver.jobs.log(of: ids[0]).map(\.text) == ["one", "two", "three"])
            #expect(try await driver.jobs.log(of: ids[1]) == [line(ids[1], "other")])
            #expect(try await driver.jobs.log(of: .make()).isEmpty)
        },
        Behaviour("the oldest of too many lines make room, and long ones are cut") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let count = Limits.jobLogLinesMax
            try await driver.jobs.append((0..<count).map { line(id, "\($0)") })
            try await driver.jobs.append([line(id, String(repeating: "x", count: Limits.jobLogCharactersMax + 9))])
            let kept = try await driver.jobs.log(of: id)
            #expect(kept.count == count && kept.first?.text == "1")
            #expect(kept.last?.text.count == Limits.jobLogCharactersMax)
        },
        Behaviour("lines go with their job") { driver in
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
