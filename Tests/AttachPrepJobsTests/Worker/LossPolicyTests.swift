import AttachPrep
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepJobs

/// Decisions about jobs whose worker was lost, as tables.
struct LossPolicyTests {
    @Test(arguments: [(0, false), (9, false), (10, true), (11, true), (.max, true), (.min, false)])
    func `A job is given up after ten losses`(losses: Int, isDead: Bool) {
        #expect(LossPolicy.isDead(losses: losses) == isDead)
    }

    @Test(arguments: [
        (1, 1_000), (2, 4_000), (3, 15_000), (4, 60_000), (5, 240_000), (9, 240_000), (0, 1_000), (.min, 1_000),
        (10, 0), (.max, 0),
    ])
    func `The delay grows with each loss, and is spread by half of itself`(losses: Int, mean: Int64) {
        #expect(LossPolicy.delayMilliseconds(losses: losses, chance: 0.5) == mean)
        #expect(LossPolicy.delayMilliseconds(losses: losses, chance: 0) == mean / 2)
        #expect(LossPolicy.delayMilliseconds(losses: losses, chance: 1) == mean * 3 / 2)
    }

    @Test func `Jobs that were lost together are due at different times`() {
        let delays = (0..<32).map { _ in LossPolicy.delayMilliseconds(losses: 3) }
        #expect(Set(delays).count > 16)
    }

    @Test func `A lease that expires after a failed renewal is excused for its duration`() {
        let renewals = FailedRenewals()
        #expect(renewals.excusedUntil == .min)
        renewals.record(at: 1_000, lease: 15_000)
        renewals.record(at: 500, lease: 15_000)
        #expect(renewals.excusedUntil == 16_000)
        renewals.record(at: .max, lease: .max)
        #expect(renewals.excusedUntil == .max)
    }

    // MARK: Other jobs for the same work

    @Test func `The end of a job is reused for an hour by new jobs, not by a job that is retried manually`() {
        let now = Date(timeIntervalSince1970: 1_795_294_262)
        let stored = StoredResult(
            media: .make(), manifest: .rejected(.jobWorkerLost), freshness: nil, fetchedAt: now - 60)
        func decision(created: Double, due: Double, now: Date = now) -> ReuseDecision {
            ReuseDecision(stored, dueAt: now + due, createdAt: now + created, isUpload: false, now: now)
        }
        #expect(decision(created: -120, due: -120) == .use(.shared))
        #expect(decision(created: -10, due: -10) == .use(.shared))
        #expect(decision(created: -120, due: -10) == .fetch)
        #expect(decision(created: -10, due: -10, now: now + 3_600) == .fetch)
    }
}
