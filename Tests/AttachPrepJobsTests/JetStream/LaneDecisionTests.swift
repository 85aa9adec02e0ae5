import Foundation
import RichPush
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

@Suite struct LaneDecisionTests {
    private static let moment = StoreMoment(wall: 1_000_000_000, steady: 500_000, bootID: "")

    private func job(
        _ state: JobState, due: Int64 = 0, wait: JobWait = .none, heard: Int64 = 0
    ) throws -> VersionedJob {
        var job = try StoredJob.sample(at: Date(milliseconds: Self.moment.wall))
        job.state = state
        job.dueAt = Self.moment.wall + due
        job.wait = wait.rawValue
        job.token = state == .running ? 7 : nil
        return VersionedJob(value: job, revision: 1, receivedAt: Self.moment.steady + heard)
    }

    private func decision(
        _ job: VersionedJob?, count: Int = 1, isHeld: Bool = false, hasWaited: Bool = false
    ) -> LaneDecision {
        let delivery = LaneDelivery(
            job: .make(), lane: .normal, reply: "", number: 1, count: count, hasWaited: hasWaited)
        return LaneDecision(job, delivery, isHeld: isHeld, leaseMilliseconds: 15_000, at: Self.moment)
    }

    @Test func `a queued job that is due is offered`() throws {
        #expect(try decision(job(.queued)) == .claimable)
        #expect(try decision(job(.queued, due: -5_000)) == .claimable)
    }

    @Test func `a job that waits is put off by as much`() throws {
        #expect(
            try decision(job(.queued, due: 5_000, wait: .backOff))
                == .wait(.steady(Self.moment.steady + 5_000), milliseconds: 5_000))
        #expect(
            try decision(job(.queued, due: 5_000, wait: .notBefore))
                == .wait(.wall(Self.moment.wall + 5_000), milliseconds: 5_000))
    }

    @Test func `clocks that were put back keep nobody waiting`() throws {
        let day: Int64 = 86_400_000
        let longest = Int64(Limits.jobBackOffSecondsMax * 1000)
        #expect(try decision(job(.queued, due: day)) == .claimable)
        #expect(
            try decision(job(.queued, due: day, wait: .backOff))
                == .wait(.steady(Self.moment.steady + longest), milliseconds: longest))
    }

    @Test func `who has waited for as long as he was told to does not wait again`() throws {
        #expect(try decision(job(.queued, due: 5_000, wait: .backOff), hasWaited: true) == .claimable)
    }

    @Test func `a job that has ended needs no message`() throws {
        for state in JobState.allCases where state.isFinished { #expect(try decision(job(state)) == .done) }
    }

    @Test func `a job of ours keeps its newer message`() throws {
        #expect(try decision(job(.running), isHeld: true) == .redelivered)
    }

    @Test func `a running job's message means that its worker is gone, unless it was claimed just now`() throws {
        #expect(try decision(job(.running, heard: -15_000)) == .lost)
        #expect(try decision(job(.running, heard: -1_000)) == .retryLater(milliseconds: 14_000))
    }

    @Test func `a message that nobody knows is asked about for a while, then dropped`() {
        #expect(decision(nil) == .retryLater(milliseconds: 100))
        #expect(decision(nil, count: 101) == .done)
    }
}
