import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import JetStreamQueue
import NATS
import RichPush
import TestSupport
import Testing

/// A queue that several machines share.
@Suite(.timeLimit(.minutes(2))) struct NATSJobQueueTests {
    /// Two machines on one server.
    private struct Pair {
        let one: JetStreamUnderTest
        let other: JetStreamUnderTest

        init(lease: Duration = .seconds(15)) async throws {
            one = try await JetStreamUnderTest(lease: lease)
            other = try await JetStreamUnderTest(server: one.server, lease: lease)
        }

        /// The server's streams, through a connection of their own.
        func stream() async throws -> JetStream {
            JetStream(try await NATSConnection.connect(NATSSettings(servers: [one.server.url])))
        }
    }

    @Test func `A job enqueued on one machine and finished on another is seen on both`() async throws {
        let pair = try await Pair()
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let lease = try await pair.other.driver.claimOne().lease
        #expect(try await pair.other.queue.finish(lease, .succeeded(.sample(.converted), .make()), notice: nil))
        #expect(try await pair.one.driver.job(id).result == .sample(.converted))
        try await pollUntil("the first machine counts it") {
            try await pair.one.queue.counts().byState[.succeeded] == 1
        }
    }

    @Test func `Each machine lists the workers of all, until they end`() async throws {
        func report(_ name: String, running: Int = 0) -> WorkerReport {
            WorkerReport(
                name: name, host: "host", version: "1.0.0", startedAt: Date(timeIntervalSince1970: 1_795_294_262),
                reportedAt: Date(timeIntervalSince1970: 1_795_294_262), running: running, concurrency: 4, mediaSlots: 2,
                isDraining: false)
        }
        let pair = try await Pair()
        #expect(await pair.one.queue.workers().isEmpty)
        try await pair.one.queue.report(report("one.example 7"))
        try await pair.other.queue.report(report("other.example 8"))
        try await pair.other.queue.report(report("other.example 8", running: 3))
        // The second machine did not watch before, so that it receives the existing reports first.
        #expect(await pair.other.queue.workers() == [report("one.example 7"), report("other.example 8", running: 3)])
        try await pollUntil("the first machine has both") { await pair.one.queue.workers().map(\.running) == [0, 3] }
        try await pair.other.queue.withdraw("other.example 8")
        try await pollUntil("one is left") { await pair.one.queue.workers().map(\.name) == ["one.example 7"] }
        await pair.one.queue.close()
        await pair.other.queue.close()
    }

    @Test func `Jobs retried in bulk on one machine are claimed on another`() async throws {
        let pair = try await Pair()
        let jobs = try await pair.one.queue.enqueue((0..<250).map { _ in .sample() }, idempotency: nil).jobs
        for job in jobs { _ = try await pair.one.queue.cancel(job.id) }
        #expect(try await pair.one.queue.retry(JobFilter(states: [.cancelled])) == 250)
        try await pollUntil("the other machine counts them") { try await pair.other.queue.counts().due == 250 }
        #expect(try await !pair.other.driver.claim(10, hostLimit: 100).isEmpty)
    }

    @Test func `A machine that starts later sees the existing jobs`() async throws {
        let one = try await JetStreamUnderTest()
        let queued = try await one.driver.jobs.enqueue([.sample(), .sample()], idempotency: nil).jobs
        let ended = try await one.driver.ended(.failed(.rejected(.mediaCorrupt)), .sample(priority: .high))
        let other = try await JetStreamUnderTest(server: one.server)
        let listed = try await other.queue.list(JobFilter(), after: nil, limit: 10).jobs
        #expect(Set(listed.map(\.id)) == Set(queued.map(\.id) + [ended]))
        #expect(try await other.queue.counts() == one.queue.counts())
    }

    @Test func `A job of a lost machine is claimed by another, and the old lease is lost`() async throws {
        let pair = try await Pair(lease: .seconds(1))
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let first = try await pair.one.driver.claimOne()
        try await pollUntil("the other machine claims it") {
            pair.other.clock.advance(1)
            return try await pair.other.driver.claim().first.map { $0.job.id == id && $0.losses == 1 } ?? false
        }
        #expect(try await !pair.one.queue.finish(first.lease, .failed(.rejected(.internal)), notice: nil))
        #expect(try await pair.one.queue.extend([first.lease], by: .seconds(15)) == [id: .lost])
        #expect(try await pair.one.driver.job(id).state == .running)
    }

    @Test func `A renewed lease keeps other machines from claiming the job`() async throws {
        let pair = try await Pair(lease: .seconds(1))
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let lease = try await pair.one.driver.claimOne().lease
        let (one, other, end) = (pair.one, pair.other, ContinuousClock.now + .seconds(3))
        try await pollUntil("three lease times have passed") {
            let status = try await one.queue.extend([lease], by: .seconds(1))
            other.clock.advance(1)
            let claimed = try await other.driver.claim()
            #expect(status == [id: .held] && claimed.isEmpty)
            return ContinuousClock.now > end
        }
    }

    @Test func `Jobs with the same work key run one at a time on all machines together`() async throws {
        let pair = try await Pair()
        let ids = try await pair.one.driver.enqueue(.sample(key: "same"), .sample(key: "same"), .sample(key: "same"))
        async let first = pair.one.driver.claim(3)
        async let second = pair.other.driver.claim(3)
        let claimed = try await [(pair.one, first), (pair.other, second)]
        let claims = claimed.flatMap { machine, jobs in jobs.map { (machine, $0) } }
        #expect(claims.count == 1)
        guard let (machine, job) = claims.first else { return }
        #expect(try await machine.queue.finish(job.lease, .succeeded(.sample(), .make()), notice: nil))
        try await pollUntil("another one is claimed") {
            let next = try await pair.one.driver.claim(3) + pair.other.driver.claim(3)
            #expect(next.count <= 1)
            return next.first.map { ids.contains($0.job.id) && $0.job.id != job.job.id } ?? false
        }
    }

    @Test func `Unfinished work of a lost machine blocks its work key no longer than its lease`() async throws {
        let pair = try await Pair(lease: .seconds(1))
        let ids = try await pair.one.driver.enqueue(.sample(key: "same"), .sample(key: "same"))
        #expect(try await pair.one.driver.claim(2).map(\.job.id) == [ids[0]])
        let other = pair.other
        try await pollUntil("both have ended") {
            other.clock.advance(1)
            for job in try await other.driver.claim(2) {
                _ = try await other.queue.finish(job.lease, .succeeded(.sample(), .make()), notice: nil)
            }
            return try await other.queue.counts().byState[.succeeded] == ids.count
        }
    }

    @Test func `A worker is notified that its job was cancelled on another machine`() async throws {
        let pair = try await Pair()
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let lease = try await pair.other.driver.claimOne().lease
        #expect(try await pair.one.queue.cancel(id).state == .running)
        try await pollUntil("its worker is notified") {
            try await pair.other.queue.extend([lease], by: .seconds(15)) == [id: .cancelled]
        }
    }

    @Test func `Jobs whose key was stored without an answer are those of the repeated request`() async throws {
        let server = try await NATSServer.start()
        let relay = try NATSRelay(to: server, version: "2.15.1")
        let unanswered = try await NATSJobQueue.open(
            QueueServers(NATSSettings(servers: [relay.url], requestTimeout: .seconds(1))), feed: JobFeed())
        let other = try await JetStreamUnderTest(server: server)
        let key = IdempotencyKey(caller: "a", key: "key", bodyDigest: "aa")
        relay.loseAnswer(to: "PUB $KV.attachprep_jobs.word.")
        await #expect(throws: AttachPrepError.self) {
            try await unanswered.enqueue([.sample(), .sample()], idempotency: key)
        }
        let repeated = try await other.queue.enqueue([.sample(), .sample()], idempotency: key)
        #expect(repeated.areRepeated && repeated.jobs.count == 2)
        let third = try await unanswered.enqueue([.sample(), .sample()], idempotency: key)
        #expect(third.jobs.map(\.id) == repeated.jobs.map(\.id))
        let claimed = try await other.driver.claim(2, hostLimit: 10)
        #expect(Set(claimed.map(\.job.id)) == Set(repeated.jobs.map(\.id)))
        await unanswered.close()
    }

    @Test func `An idempotency key returns the same jobs on all machines`() async throws {
        let pair = try await Pair()
        let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
        async let first = pair.one.queue.enqueue([.sample(), .sample()], idempotency: key)
        async let second = pair.other.queue.enqueue([.sample(), .sample()], idempotency: key)
        let enqueued = try await [first, second]
        #expect(enqueued[0].jobs.map(\.id) == enqueued[1].jobs.map(\.id))
        #expect(enqueued.count { $0.areRepeated } == 1)
        try await pollUntil("two jobs are counted") { try await pair.one.queue.counts().byState[.queued] == 2 }
    }

    @Test func `A job that has lost its lane message gets a new one`() async throws {
        let pair = try await Pair()
        let id = try await pair.one.driver.enqueue(.sample())[0]
        try await pair.stream().purge("attachprep_lanes")
        #expect(try await pair.one.driver.claim().isEmpty)
        pair.one.clock.advance(60)
        _ = try await pair.one.queue.sweep()
        #expect(try await pair.one.driver.claimOne().job.id == id)
    }

    @Test func `A repeated submission sends the lane message that the first one could not`() async throws {
        let pair = try await Pair()
        let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
        let first = try await pair.one.queue.enqueue([.sample()], idempotency: key)
        try await pair.stream().purge("attachprep_lanes")
        let second = try await pair.other.queue.enqueue([.sample()], idempotency: key)
        #expect(second.areRepeated && second.jobs.map(\.id) == first.jobs.map(\.id))
        #expect(try await pair.other.driver.claimOne().job.id == first.jobs[0].id)
        _ = try await pair.one.queue.enqueue([.sample()], idempotency: key)
        #expect(try await pair.stream().messageCount("attachprep_lanes") == 1)
    }

    @Test func `A sweep sends no second message for a queued job`() async throws {
        let pair = try await Pair()
        _ = try await pair.one.driver.enqueue(.sample())
        pair.one.clock.advance(60)
        _ = try await pair.one.queue.sweep()
        #expect(try await pair.stream().messageCount("attachprep_lanes") == 1)
    }

    @Test func `Finished jobs and idempotency keys are removed after their retention`() async throws {
        let one = try await JetStreamUnderTest()
        let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
        _ = try await one.queue.enqueue([.sample()], idempotency: key)
        let lease = try await one.driver.claimOne().lease
        _ = try await one.queue.finish(lease, .succeeded(.sample(), .make()), notice: nil)
        one.clock.advance(Limits.retentionSeconds + 1)
        try await pollUntil("the idempotency key is removed") { try await one.queue.sweep().idempotencyKeys == 1 }
        #expect(try await one.queue.job(lease.job) == nil)
        #expect(try await one.queue.counts().byState[.succeeded] == 0)
    }

    @Test func `The message of a finished job is removed`() async throws {
        let pair = try await Pair()
        _ = try await pair.one.driver.ended(.succeeded(.sample(), .make()))
        let stream = try await pair.stream()
        try await pollUntil("the message is removed") { try await stream.messageCount("attachprep_lanes") == 0 }
    }

    @Test func `A dead job is stored as a dead letter`() async throws {
        let pair = try await Pair()
        _ = try await pair.one.driver.ended(.dead(.rejected(.downloadTimeout)))
        let stream = try await pair.stream()
        try await pollUntil("the dead letter is stored") { try await stream.messageCount("attachprep_dead") == 1 }
    }

    @Test func `A killed server has all jobs after a restart`() async throws {
        let one = try await JetStreamUnderTest()
        let ids = try await one.driver.enqueue(.sample(), .sample())
        let running = try await one.driver.claimOne()
        one.server.kill()
        let error = await #expect(throws: AttachPrepError.self) {
            while true { _ = try await one.queue.job(ids[0]) }
        }
        #expect(error?.code == .queueUnavailable)
        try await one.server.restart()
        try await pollUntil("the server answers again") { (try? await one.queue.job(ids[1])) != nil }
        #expect(try await one.queue.finish(running.lease, .succeeded(.sample(), .make()), notice: nil))
        try await pollUntil("the other job is claimed") { try await one.driver.claim().first?.job.id == ids[1] }
    }

    @Test func `A job over the server's payload limit is rejected`() async throws {
        let server = try await NATSServer.start("max_payload: 4000")
        let one = try await JetStreamUnderTest(server: server)
        let long = JobSubmission.sample("https://cdn.example/\(String(repeating: "x", count: 5_000))")
        let error = await #expect(throws: AttachPrepError.self) { try await one.driver.enqueue(long) }
        #expect(error?.code == .requestTooLarge)
    }
}
