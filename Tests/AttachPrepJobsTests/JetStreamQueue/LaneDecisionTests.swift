import Foundation
import RichPush
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

@Suite struct LaneDecisionTests {
    private static let moment = StoreMoment(wall: 1_000_000_000, steady: 500_000, bootID: "")

    private func job(
        _ state: JobState, due: Int64 = 0, wait: JobWait = .none, received: Int64 = 0
    ) throws -> VersionedJob {
        var job = try StoredJob.sample(at: Date(milliseconds: Self.moment.wall))
        job.state = state
        job.dueAt = Self.moment.wall + due
        job.wait = wait.rawValue
        job.token = state == .running ? 7 : nil
        return VersionedJob(value: job, revision: 1, receivedAt: Self.moment.steady + received)
    }

    private func decision(
        _ job: VersionedJob?, count: Int = 1, isHeld: Bool = false, hasWaited: Bool = false
    ) -> LaneDecision {
        let delivery = LaneDelivery(
            job: .make(), lane: .normal, reply: "", sequence: 1, count: count, hasWaited: hasWaited)
        return LaneDecision(job, delivery, isHeld: isHeld, leaseMilliseconds: 15_000, at: Self.moment)
    }

    @Test func `A queued job that is due is claimable`() throws {
        #expect(try decision(job(.queued)) == .claimable)
        #expect(try decision(job(.queued, due: -5_000)) == .claimable)
    }

    @Test func `A waiting job is deferred by its remaining time`() throws {
        #expect(
            try decision(job(.queued, due: 5_000, wait: .backOff))
                == .wait(.steady(Self.moment.steady + 5_000), milliseconds: 5_000))
        #expect(
            try decision(job(.queued, due: 5_000, wait: .notBefore))
                == .wait(.wall(Self.moment.wall + 5_000), milliseconds: 5_000))
    }

    @Test func `Clocks that were set back delay no job beyond its longest back-off`() throws {
        let day: Int64 = 86_400_000
        let longest = Int64(Limits.jobBackOffSecondsMax * 1000)
        #expect(try decision(job(.queued, due: day)) == .claimable)
        #expect(
            try decision(job(.queued, due: day, wait: .backOff))
                == .wait(.steady(Self.moment.steady + longest), milliseconds: longest))
    }

    @Test func `A machine whose clock is behind lets a job wait for its own back-off, and no longer`() throws {
        let worker = Self.moment.wall + 500_000
        let running = try job(.running)
        let lost = try #require(running.value.lost(at: worker))
        let waiting = VersionedJob(value: lost, revision: 2, receivedAt: Self.moment.steady)
        let wait = lost.dueAt - worker
        #expect(500...1_500 ~= wait)
        #expect(decision(waiting) == .wait(.steady(Self.moment.steady + wait), milliseconds: wait))
    }

    @Test func `A job that has waited does not wait again`() throws {
        #expect(try decision(job(.queued, due: 5_000, wait: .backOff), hasWaited: true) == .claimable)
    }

    @Test func `The message of a finished job is done`() throws {
        for state in JobState.allCases where state.isFinished { #expect(try decision(job(state)) == .done) }
    }

    @Test func `A message of a job that this machine holds is a redelivery`() throws {
        #expect(try decision(job(.running), isHeld: true) == .redelivered)
    }

    @Test func `A running job's message means that its worker is lost, unless it was just claimed`() throws {
        #expect(try decision(job(.running, received: -15_000)) == .lost)
        #expect(try decision(job(.running, received: -1_000)) == .retryLater(milliseconds: 14_000))
    }

    @Test func `A message of an unknown job is retried for a while, then dropped`() {
        #expect(decision(nil) == .retryLater(milliseconds: 100))
        #expect(decision(nil, count: 101) == .done)
    }
}

@Suite struct LaneStallTests {
    /// The seconds at which another leader is elected for a lane that is observed at the given seconds.
    private func elections(_ observations: [(second: Int64, missedAfter: UInt64?)]) -> [Int64] {
        var stall = LaneStall()
        return observations.filter { stall.isDue(missedAfter: $0.missedAfter, at: $0.second * 1_000) }.map(\.second)
    }

    @Test func `A lane without missing messages keeps its leader`() {
        #expect(elections((0...60).map { ($0, nil) }).isEmpty)
    }

    @Test func `A lane that is late but progresses keeps its leader`() {
        #expect(elections((0...60).map { ($0, UInt64($0 / 5)) }).isEmpty)
    }

    @Test func `A lane stalled for ten seconds gets another leader, and one more if it stays stalled`() {
        #expect(elections((0...40).map { ($0, 76) }) == [10, 21, 32])
    }

    @Test func `A lane that has caught up in between is timed from its next stall`() {
        #expect(elections([(0, 76), (9, nil), (11, 76), (20, 76), (21, 76)]) == [21])
    }
}
