import AttachPrep
import AttachPrepJobs
import Foundation
import NATS
import RichPush
import TestSupport
import Testing

/// What one machine alone cannot show.
@Suite(.timeLimit(.minutes(2))) struct JetStreamQueueTests {
    /// Two machines on one server.
    private struct Pair {
        let one: JetStreamUnderTest
        let other: JetStreamUnderTest

        init(lease: Duration = .seconds(15)) async throws {
            one = try await JetStreamUnderTest(lease: lease)
            other = try await JetStreamUnderTest(server: one.server, lease: lease)
        }

        /// What the servers themselves say.
        func stream() async throws -> JetStream {
            JetStream(try await NATSConnection.connect(NATSSettings(servers: [one.server.url])))
        }
    }

    @Test func `a job is put in on one machine, worked off on another, and seen on both`() async throws {
        let pair = try await Pair()
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let lease = try await pair.other.driver.claimOne().lease
        #expect(try await pair.other.queue.finish(lease, .succeeded(.sample(.converted), .make()), notice: nil))
        #expect(try await pair.one.driver.job(id).result == .sample(.converted))
        try await askUntil("the first machine counts it") {
            try await pair.one.queue.counts().byState[.succeeded] == 1
        }
    }

    @Test func `many jobs are queued again by one machine, and worked off by another`() async throws {
        let pair = try await Pair()
        let jobs = try await pair.one.queue.enqueue((0..<250).map { _ in .sample() }, idempotency: nil).jobs
        for job in jobs { _ = try await pair.one.queue.cancel(job.id) }
        #expect(try await pair.one.queue.retry(JobFilter(states: [.cancelled])) == 250)
        try await askUntil("the other machine counts them") { try await pair.other.queue.counts().due == 250 }
        #expect(try await !pair.other.driver.claim(10, hostLimit: 100).isEmpty)
    }

    @Test func `a machine that starts later sees what was there`() async throws {
        let one = try await JetStreamUnderTest()
        let queued = try await one.driver.jobs.enqueue([.sample(), .sample()], idempotency: nil).jobs
        let ended = try await one.driver.ended(.failed(.rejected(.mediaCorrupt)), .sample(priority: .high))
        let other = try await JetStreamUnderTest(server: one.server)
        let listed = try await other.queue.list(JobFilter(), after: nil, limit: 10).jobs
        #expect(Set(listed.map(\.id)) == Set(queued.map(\.id) + [ended]))
        #expect(try await other.queue.counts() == one.queue.counts())
    }

    @Test func `a job whose machine is gone is another one's, and ends once`() async throws {
        let pair = try await Pair(lease: .seconds(1))
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let first = try await pair.one.driver.claimOne()
        try await askUntil("the other machine has it") {
            pair.other.clock.advance(1)
            return try await pair.other.driver.claim().first.map { $0.job.id == id && $0.losses == 1 } ?? false
        }
        #expect(try await !pair.one.queue.finish(first.lease, .failed(.rejected(.internal)), notice: nil))
        #expect(try await pair.one.queue.extend([first.lease], by: .seconds(15)) == [id: .lost])
        #expect(try await pair.one.driver.job(id).state == .running)
    }

    @Test func `a lease that is renewed keeps its message from others`() async throws {
        let pair = try await Pair(lease: .seconds(1))
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let lease = try await pair.one.driver.claimOne().lease
        let (one, other, end) = (pair.one, pair.other, ContinuousClock.now + .seconds(3))
        try await askUntil("three leases are over") {
            let standing = try await one.queue.extend([lease], by: .seconds(1))
            other.clock.advance(1)
            let taken = try await other.driver.claim()
            #expect(standing == [id: .held] && taken.isEmpty)
            return ContinuousClock.now > end
        }
    }

    @Test func `the same work is done on one machine at a time, and the other jobs come when it is over`() async throws
    {
        let pair = try await Pair()
        let ids = try await pair.one.driver.enqueue(.sample(key: "same"), .sample(key: "same"), .sample(key: "same"))
        async let first = pair.one.driver.claim(3)
        async let second = pair.other.driver.claim(3)
        let claimed = try await [(pair.one, first), (pair.other, second)]
        let given = claimed.flatMap { machine, jobs in jobs.map { (machine, $0) } }
        #expect(given.count == 1)
        guard let (machine, job) = given.first else { return }
        #expect(try await machine.queue.finish(job.lease, .succeeded(.sample(), .make()), notice: nil))
        try await askUntil("another one is given") {
            let next = try await pair.one.driver.claim(3) + pair.other.driver.claim(3)
            #expect(next.count <= 1)
            return next.first.map { ids.contains($0.job.id) && $0.job.id != job.job.id } ?? false
        }
    }

    @Test func `work that a machine began and did not end holds up nobody for longer than its lease`() async throws {
        let pair = try await Pair(lease: .seconds(1))
        let ids = try await pair.one.driver.enqueue(.sample(key: "same"), .sample(key: "same"))
        #expect(try await pair.one.driver.claim(2).map(\.job.id) == [ids[0]])
        let other = pair.other
        try await askUntil("both have ended") {
            other.clock.advance(1)
            for job in try await other.driver.claim(2) {
                _ = try await other.queue.finish(job.lease, .succeeded(.sample(), .make()), notice: nil)
            }
            return try await other.queue.counts().byState[.succeeded] == ids.count
        }
    }

    @Test func `a worker hears that its job was called off on another machine`() async throws {
        let pair = try await Pair()
        let id = try await pair.one.driver.enqueue(.sample())[0]
        let lease = try await pair.other.driver.claimOne().lease
        #expect(try await pair.one.queue.cancel(id).state == .running)
        try await askUntil("its worker hears of it") {
            try await pair.other.queue.extend([lease], by: .seconds(15)) == [id: .cancelled]
        }
    }

    @Test func `the same key gives the same jobs on all machines`() async throws {
        let pair = try await Pair()
        let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
        async let first = pair.one.queue.enqueue([.sample(), .sample()], idempotency: key)
        async let second = pair.other.queue.enqueue([.sample(), .sample()], idempotency: key)
        let given = try await [first, second]
        #expect(given[0].jobs.map(\.id) == given[1].jobs.map(\.id))
        #expect(given.count { $0.areRepeated } == 1)
        try await askUntil("there are two") { try await pair.one.queue.counts().byState[.queued] == 2 }
    }

    @Test func `a job that has lost its message gets another one`() async throws {
        let pair = try await Pair()
        let id = try await pair.one.driver.enqueue(.sample())[0]
        try await pair.stream().purge("attachprep_lanes")
        #expect(try await pair.one.driver.claim().isEmpty)
        pair.one.clock.advance(60)
        _ = try await pair.one.queue.sweep()
        #expect(try await pair.one.driver.claimOne().job.id == id)
    }

    @Test func `housekeeping makes no second message`() async throws {
        let pair = try await Pair()
        _ = try await pair.one.driver.enqueue(.sample())
        pair.one.clock.advance(60)
        _ = try await pair.one.queue.sweep()
        #expect(try await pair.stream().messageCount("attachprep_lanes") == 1)
    }

    @Test func `finished jobs go when their time is over, and callers' words`() async throws {
        let one = try await JetStreamUnderTest()
        let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
        _ = try await one.queue.enqueue([.sample()], idempotency: key)
        let lease = try await one.driver.claimOne().lease
        _ = try await one.queue.finish(lease, .succeeded(.sample(), .make()), notice: nil)
        one.clock.advance(Limits.retentionSeconds + 1)
        try await askUntil("the word is swept") { try await one.queue.sweep().idempotencyKeys == 1 }
        #expect(try await one.queue.job(lease.job) == nil)
        #expect(try await one.queue.counts().byState[.succeeded] == 0)
    }

    @Test func `a message is gone when its job has ended`() async throws {
        let pair = try await Pair()
        _ = try await pair.one.driver.ended(.succeeded(.sample(), .make()))
        let stream = try await pair.stream()
        try await askUntil("it is gone") { try await stream.messageCount("attachprep_lanes") == 0 }
    }

    @Test func `a dead job is a dead letter`() async throws {
        let pair = try await Pair()
        _ = try await pair.one.driver.ended(.dead(.rejected(.downloadTimeout)))
        let stream = try await pair.stream()
        try await askUntil("it is there") { try await stream.messageCount("attachprep_dead") == 1 }
    }

    @Test func `a server that was killed has all jobs when it is back`() async throws {
        let one = try await JetStreamUnderTest()
        let ids = try await one.driver.enqueue(.sample(), .sample())
        let running = try await one.driver.claimOne()
        one.server.kill()
        let error = await #expect(throws: AttachPrepError.self) {
            while true { _ = try await one.queue.job(ids[0]) }
        }
        #expect(error?.code == .queueUnavailable)
        try await one.server.restart()
        try await askUntil("it answers again") { (try? await one.queue.job(ids[1])) != nil }
        #expect(try await one.queue.finish(running.lease, .succeeded(.sample(), .make()), notice: nil))
        try await askUntil("the other one is given") { try await one.driver.claim().first?.job.id == ids[1] }
    }

    @Test func `a job that is too long for the servers is refused`() async throws {
        let server = try await NATSServer.start("max_payload: 4000")
        let one = try await JetStreamUnderTest(server: server)
        let long = JobSubmission.sample("https://cdn.example/\(String(repeating: "x", count: 5_000))")
        let error = await #expect(throws: AttachPrepError.self) { try await one.driver.enqueue(long) }
        #expect(error?.code == .requestTooLarge)
    }
}
