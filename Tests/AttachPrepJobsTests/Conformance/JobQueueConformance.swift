import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import Testing

/// The behavior that every `JobQueue` has; each test gets a new driver.
enum JobQueueConformance {
    static let behaviors =
        submissions + claims + lanes + hosts + leases + completions + management + postponements + waits + pauses
        + clocks

    static let submissions: [Behavior] = [
        Behavior("An enqueued job is read back as submitted") { driver in
            let submission = JobSubmission.sample(id: "mine")
            let enqueued = try await driver.jobs.enqueue([submission], idempotency: nil)
            let job = try await driver.job(enqueued.jobs[0].id)
            #expect(!enqueued.areRepeated && enqueued.jobs == [job])
            #expect(job.state == .queued && job.attempts == 0 && job.request == submission.request.shown)
            #expect(job.createdAt == driver.clock.now && job.startedAt == nil && job.finishedAt == nil)
        },
        Behavior("An unknown id has no job") { driver in
            let job = try await driver.jobs.job(.make())
            #expect(job == nil)
        },
        Behavior("A batch over the queue limit is rejected as a whole") { driver in
            let queuedJobsMax = DriverUnderTest.queuedJobsMax
            _ = try await driver.jobs.enqueue((1..<queuedJobsMax).map { _ in .sample() }, idempotency: nil)
            let error = await #expect(throws: AttachPrepError.self) { try await driver.enqueue(.sample(), .sample()) }
            #expect(error?.code == .queueFull)
            #expect(try await driver.jobs.counts().byState[.queued] == queuedJobsMax - 1)
            _ = try await driver.enqueue(.sample())
        },
        Behavior("The same idempotency key and body return the same jobs") { driver in
            let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
            let first = try await driver.jobs.enqueue([.sample(), .sample()], idempotency: key)
            let second = try await driver.jobs.enqueue([.sample(), .sample()], idempotency: key)
            #expect(second.areRepeated && second.jobs.map(\.id) == first.jobs.map(\.id))
            #expect(try await driver.jobs.counts().byState[.queued] == 2)
        },
        Behavior("The same idempotency key with another body is a conflict") { driver in
            var key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
            _ = try await driver.jobs.enqueue([.sample()], idempotency: key)
            key.bodyDigest = "bb"
            let error = await #expect(throws: AttachPrepError.self) {
                try await driver.jobs.enqueue([.sample()], idempotency: key)
            }
            #expect(error?.code == .requestConflict)
        },
        Behavior("An idempotency key can be used by another caller, and again after a day") { driver in
            var key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
            let first = try await driver.jobs.enqueue([.sample()], idempotency: key)
            key.caller = "you"
            key.bodyDigest = "bb"
            #expect(try await !driver.jobs.enqueue([.sample()], idempotency: key).areRepeated)
            driver.clock.advance(Limits.idempotencySecondsMax + 1)
            let later = try await driver.jobs.enqueue([.sample()], idempotency: key)
            #expect(!later.areRepeated && later.jobs[0].id != first.jobs[0].id)
        },
        Behavior("Concurrent submissions with one idempotency key create one job") { driver in
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

    static let claims: [Behavior] = [
        Behavior("A claimed job is running, and only its worker receives its secrets") { driver in
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
        Behavior("Jobs are claimed once each, in the order of submission") { driver in
            let ids = try await driver.enqueue(.sample(), .sample(), .sample())
            #expect(try await driver.claim(2).map(\.job.id) == Array(ids[0..<2]))
            #expect(try await driver.claim(2).map(\.job.id) == [ids[2]])
            #expect(try await driver.claim(2).isEmpty)
        },
        Behavior("Concurrent claims receive different jobs") { driver in
            let ids = try await driver.jobs.enqueue((0..<30).map { _ in .sample(host: nil) }, idempotency: nil)
            let claimed = try await withThrowingTaskGroup(of: [JobID].self) { group in
                for _ in 0..<15 { group.addTask { try await driver.claim(2, hostLimit: 30).map(\.job.id) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claimed.count == 30 && Set(claimed) == Set(ids.jobs.map(\.id)))
        },
        Behavior("A job is not claimed before its notBefore") { driver in
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
        Behavior("A job waits while a job with the same work key runs") { driver in
            let ids = try await driver.enqueue(.sample(key: "same"), .sample(key: "same"), .sample())
            let claimed = try await driver.claim(5)
            #expect(claimed.map(\.job.id) == [ids[0], ids[2]])
            _ = try await driver.jobs.finish(claimed[0].lease, .succeeded(.sample(), .make()), notice: nil)
            #expect(try await driver.claim(5).map(\.job.id) == [ids[1]])
        },
        Behavior("The feed publishes every change after it is stored") { driver in
            let stream = driver.feed.changes(backlog: 10)
            let id = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            driver.feed.finish()
            let states = await stream.filter { $0.job == id }.map(\.state).reduce(into: []) { $0.append($1) }
            #expect(states == [.queued, .running, .failed])
        },
    ]

    static let lanes: [Behavior] = [
        Behavior("The high lane is claimed most often, and no lane starves") { driver in
            for priority in JobPriority.allCases {
                _ = try await driver.jobs.enqueue(
                    (0..<13).map { _ in .sample(host: nil, priority: priority) }, idempotency: nil)
            }
            let first = try await driver.claim(10, hostLimit: 39).map(\.job.request.jobOptions.priority)
            #expect(first.count { $0 == .high } > first.count { $0 == .normal } && first.contains(.normal))
            _ = try await driver.claim(11, hostLimit: 39)
            let last = try await driver.claim(18, hostLimit: 39)
            #expect(last.contains { $0.job.request.jobOptions.priority == .bulk })
        },
        Behavior("A single lane with jobs gets all claims") { driver in
            _ = try await driver.jobs.enqueue(
                (0..<30).map { _ in .sample(host: nil, priority: .bulk) }, idempotency: nil)
            #expect(try await driver.claim(30, hostLimit: 30).count == 30)
        },
    ]

    static let hosts: [Behavior] = [
        Behavior("A host's jobs run up to the host limit without blocking other hosts") { driver in
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
