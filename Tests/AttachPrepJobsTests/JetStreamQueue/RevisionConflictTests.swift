import Foundation
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

/// Issue 19: a replica of the bucket that has diverged shows revisions that the stream's leader rejects.
@Suite(.timeLimit(.minutes(1))) struct RevisionConflictTests {
    /// A queued job for which this machine has received a revision that the leader does not have.
    private func divergingJob(on machine: JetStreamUnderTest) async throws -> JobID {
        let id = try await machine.driver.enqueue(.sample())[0]
        let lookup = try await machine.queue.mirror.lookup([id.text])
        var job = try #require(lookup.jobs[id.text])
        job.revision += 1_000
        let moment = machine.queue.clock.now()
        try await machine.queue.mirror.write { [job] database, _ in
            _ = try MirrorTables.apply(job, .others(at: moment), database)
        }
        return id
    }

    @Test func `A job with repeated revision conflicts is claimed with the leader's revision`() async throws {
        let machine = try await JetStreamUnderTest()
        let id = try await divergingJob(on: machine)
        let claimed = Mutex<[ClaimedJob]>([])
        try await pollUntil("the job is claimed", seconds: 20) {
            let found = try await machine.driver.claim()
            claimed.withLock { $0 = found }
            return !found.isEmpty
        }
        let job = try #require(claimed.withLock { $0 }.first)
        #expect(job.job.id == id)
        #expect(try await machine.queue.finish(job.lease, .succeeded(.sample(), .make()), notice: nil))
        try await pollUntil("lists show the state on the leader") {
            try await machine.queue.counts().byState[.succeeded] == 1
        }
        #expect(machine.queue.refusedClaims == 3 && machine.queue.unavailableReason == nil)
    }

    @Test func `Claims that conflict for long make the queue unready until one succeeds`() async throws {
        let machine = try await JetStreamUnderTest()
        let now = machine.clock.storeClock().now().steady
        let (stuck, other) = (JobID.make(), JobID.make())
        for second in stride(from: 0, through: 30, by: 10) {
            _ = machine.queue.conflicts.refused(stuck, at: now + Int64(second) * 1000)
        }
        machine.clock.advance(30)
        #expect(
            machine.queue.unavailableReason?.contains("KV_attachprep_jobs") == true,
            "\(machine.queue.unavailableReason ?? "")")
        machine.queue.conflicts.progressed(other)
        #expect(machine.queue.unavailableReason == nil)
    }
}

@Suite struct ConflictDecisionTests {
    @Test(arguments: [
        (1, 100, false, false), (2, 200, false, false), (3, 400, true, true), (4, 800, true, false),
        (7, 6_400, true, false), (8, 10_000, true, false), (1_000_000, 10_000, true, false),
        (Int.max, 10_000, true, false),
    ])
    func `Pauses grow, and the third conflict reads from the leader and is logged`(
        count: Int, milliseconds: Int64, readsLeader: Bool, isLogged: Bool
    ) {
        let decision = ConflictDecision(count: count)
        #expect(decision.pauseMilliseconds == milliseconds)
        #expect(decision.readsLeader == readsLeader && decision.isLogged == isLogged)
    }
}

@Suite struct ClaimStallTests {
    /// Times of conflicts, in seconds; a negative one is when a job progressed.
    @Test(
        arguments: [
            ([], 100, false), ([0], 100, false), ([0, 29], 29, false), ([0, 10, 20, 30], 30, true),
            ([0, 10, 20, 30], 49, true), ([0, 10, 20, 30], 50, false), ([0, 10, 20, -25, 30], 30, false),
            ([0, 10, 20, -25, 30, 40, 50, 60], 60, true), ([0, 10, 20, 30, -31], 31, false),
        ] as [([Int64], Int64, Bool)])
    func `Claims are stalled after 30 s of conflicts without progress`(times: [Int64], now: Int64, isStalled: Bool) {
        var stall = ClaimStall()
        for time in times {
            if time < 0 { stall.progressed() } else { stall.refused(at: time * 1000) }
        }
        #expect(stall.isStalled(at: now * 1000) == isStalled)
    }
}
