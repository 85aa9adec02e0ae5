import AttachPrep
import AttachPrepJobs
import Foundation
import RichPush
import Testing

/// What a driver has to do to be a `JobQueue`; each behaviour gets a driver of its own.
enum JobQueueConformance {
    static let behaviours = intake + claims + lanes + hosts + leases + endings + people + clocks + blameless

    static let intake: [Behaviour] = [
        Behaviour("a job is queued, and read as it was given") { driver in
            let submission = JobSubmission.sample(id: "mine")
            let given = try await driver.jobs.enqueue([submission], idempotency: nil)
            let job = try await driver.job(given.jobs[0].id)
            #expect(!given.areRepeated && given.jobs == [job])
            #expect(job.state == .queued && job.attempts == 0 && job.request == submission.request.shown)
            #expect(job.createdAt == driver.clock.now && job.startedAt == nil && job.finishedAt == nil)
        },
        Behaviour("no job has a name that was never given") { driver in
            let job = try await driver.jobs.job(.make())
            #expect(job == nil)
        },
        Behaviour("a batch that does not fit is not taken at all") { driver in
            let room = DriverUnderTest.queuedJobsMax
            _ = try await driver.jobs.enqueue((1..<room).map { _ in .sample() }, idempotency: nil)
            let error = await #expect(throws: AttachPrepError.self) { try await driver.enqueue(.sample(), .sample()) }
            #expect(error?.code == .queueFull)
            #expect(try await driver.jobs.counts().byState[.queued] == room - 1)
            _ = try await driver.enqueue(.sample())
        },
        Behaviour("the same key and body give the same jobs") { driver in
            let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
            let first = try await driver.jobs.enqueue([.sample(), .sample()], idempotency: key)
            let second = try await driver.jobs.enqueue([.sample(), .sample()], idempotency: key)
            #expect(second.areRepeated && second.jobs.map(\.id) == first.jobs.map(\.id))
            #expect(try await driver.jobs.counts().byState[.queued] == 2)
        },
        Behaviour("the same key with another body is a conflict") { driver in
            var key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
            _ = try await driver.jobs.enqueue([.sample()], idempotency: key)
            key.bodyDigest = "bb"
            let error = await #expect(throws: AttachPrepError.self) {
                try await driver.jobs.enqueue([.sample()], idempotency: key)
            }
            #expect(error?.code == .requestConflict)
        },
        Behaviour("two callers may use the same key, and one of them after a day") { driver in
            var key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
            let first = try await driver.jobs.enqueue([.sample()], idempotency: key)
            key.caller = "you"
            key.bodyDigest = "bb"
            #expect(try await !driver.jobs.enqueue([.sample()], idempotency: key).areRepeated)
            driver.clock.advance(Limits.idempotencySecondsMax + 1)
            let later = try await driver.jobs.enqueue([.sample()], idempotency: key)
            #expect(!later.areRepeated && later.jobs[0].id != first.jobs[0].id)
        },
        Behaviour("callers at the same time with one key get one job") { driver in
            let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
            let ids = try await withThrowingTaskGroup(of: JobID.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await driver.jobs.enqueue([.sample()], idempotency: key).jobs[0].id }
                }
                return try await group.reduce(into: Set<JobID>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
        },
    ]

    static let claims: [Behaviour] = [
        Behaviour("a claimed job runs, with its secrets in the worker's hands alone") { driver in
            let secret = JobSubmission.sample(
                "https://me:pass@cdn.example/a.jpg?token=abc", headers: ["Authorization": "Bearer x"])
            let id = try await driver.enqueue(secret)[0]
            driver.clock.advance(3)
            let claimed = try await driver.claimOne()
            #expect(claimed.request == secret.request && claimed.key == secret.key && claimed.lease.job == id)
            #expect(claimed.failures == 0 && claimed.losses == 0)
            #expect(claimed.dueAt == driver.clock.now - 3)
            let job = try await driver.job(id)
            #expect(job == claimed.job && job.state == .running && job.attempts == 1)
            #expect(job.startedAt == driver.clock.now)
            #expect(job.request.headers.isEmpty && !job.request.source.contains("pass"))
        },
        Behaviour("jobs are given in the order of their coming, each once") { driver in
            let ids = try await driver.enqueue(.sample(), .sample(), .sample())
            #expect(try await driver.claim(2).map(\.job.id) == Array(ids[0..<2]))
            #expect(try await driver.claim(2).map(\.job.id) == [ids[2]])
            #expect(try await driver.claim(2).isEmpty)
        },
        Behaviour("workers at the same time get different jobs") { driver in
            let ids = try await driver.jobs.enqueue((0..<30).map { _ in .sample(host: nil) }, idempotency: nil)
            let given = try await withThrowingTaskGroup(of: [JobID].self) { group in
                for _ in 0..<15 { group.addTask { try await driver.claim(2).map(\.job.id) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(given.count == 30 && Set(given) == Set(ids.jobs.map(\.id)))
        },
        Behaviour("a job is not given before its time") { driver in
            let date = driver.clock.now + 60
            let id = try await driver.enqueue(.sample(notBefore: date))[0]
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.jobs.nextDue() == date)
            #expect(try await driver.jobs.counts().due == 0)
            driver.clock.advance(60)
            #expect(try await driver.jobs.counts().due == 1)
            #expect(try await driver.jobs.nextDue() == nil)
            let claimed = try await driver.claimOne()
            #expect(claimed.job.id == id && claimed.dueAt == date)
        },
        Behaviour("a job whose work is being done waits, and comes when that is over") { driver in
            let ids = try await driver.enqueue(.sample(key: "same"), .sample(key: "same"), .sample())
            let claimed = try await driver.claim(5)
            #expect(claimed.map(\.job.id) == [ids[0], ids[2]])
            _ = try await driver.jobs.finish(claimed[0].lease, .succeeded(.sample(), .make()), notice: nil)
            #expect(try await driver.claim(5).map(\.job.id) == [ids[1]])
        },
        Behaviour("the feed hears of every change after it is kept") { driver in
            let stream = driver.feed.changes(backlog: 10)
            let id = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            driver.feed.finish()
            let states = await stream.filter { $0.job == id }.map(\.state).reduce(into: []) { $0.append($1) }
            #expect(states == [.queued, .running, .failed])
        },
    ]

    static let lanes: [Behaviour] = [
        Behaviour("high comes first most often, and no lane starves") { driver in
            for priority in JobPriority.allCases {
                _ = try await driver.jobs.enqueue(
                    (0..<13).map { _ in .sample(host: nil, priority: priority) }, idempotency: nil)
            }
            let first = try await driver.claim(10).map(\.job.request.jobOptions.priority)
            #expect(first.count { $0 == .high } > first.count { $0 == .normal } && first.contains(.normal))
            _ = try await driver.claim(11)
            #expect(try await driver.claim(18).contains { $0.job.request.jobOptions.priority == .bulk })
        },
        Behaviour("a lane alone gets all turns") { driver in
            _ = try await driver.jobs.enqueue(
                (0..<30).map { _ in .sample(host: nil, priority: .bulk) }, idempotency: nil)
            #expect(try await driver.claim(30).count == 30)
        },
    ]

    static let hosts: [Behaviour] = [
        Behaviour("a host's jobs run so many at a time, and no other host waits for it") { driver in
            let slow = try await driver.jobs.enqueue(
                (0..<10).map { _ in .sample(host: "slow.example") }, idempotency: nil)
            let other = try await driver.enqueue(.sample(host: "other.example"), .sample(host: nil))
            let claimed = try await driver.claim(20, hostLimit: 3)
            #expect(claimed.map(\.job.id) == slow.jobs[0..<3].map(\.id) + other)
            _ = try await driver.jobs.finish(claimed[1].lease, .cancelled, notice: nil)
            #expect(try await driver.claim(20, hostLimit: 3).map(\.job.id) == [slow.jobs[3].id])
        }
    ]
}
