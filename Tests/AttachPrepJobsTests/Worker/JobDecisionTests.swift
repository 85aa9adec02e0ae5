import AttachPrep
import Foundation
import MediaTypes
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

/// Decisions of a worker, as tables.
struct JobDecisionTests {
    private static let now = Date(timeIntervalSince1970: 1_795_294_262)

    // MARK: Reuse

    struct Reuse: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Seconds before now.
        var fetched: Double
        var due: Double
        var outcome = Outcome.passed
        var error: ErrorCode?
        var fresh: Double?
        var tag: String?
        var isUpload = false
        let expected: ReuseDecision

        var stored: StoredResult {
            var manifest = Manifest(id: "a", requestDigest: "", outcome: outcome, source: ManifestSource(url: ""))
            manifest.error = error.map { ManifestError(AttachPrepError($0, "No.")) }
            let freshness = SourceFreshness(
                validators: tag.map { SourceValidators(entityTag: $0, lastModified: nil) },
                freshUntil: fresh.map { JobDecisionTests.now.addingTimeInterval($0) })
            return StoredResult(
                media: .make(), manifest: manifest, freshness: freshness,
                fetchedAt: JobDecisionTests.now.addingTimeInterval(-fetched))
        }
    }

    private static let tag = SourceValidators(entityTag: "\"1\"", lastModified: nil)

    @Test(arguments: [
        Reuse(testDescription: "fetched when the job was due", fetched: 5, due: 5, expected: .use(.shared)),
        Reuse(
            testDescription: "a temporary error after the job was due", fetched: 5, due: 6, outcome: .rejected,
            error: .downloadTimeout, expected: .use(.shared)),
        Reuse(
            testDescription: "a best attempt after the job was due", fetched: 5, due: 6, outcome: .bestAttempt,
            expected: .use(.shared)),
        Reuse(testDescription: "fetched earlier, without freshness", fetched: 6, due: 5, expected: .fetch),
        Reuse(testDescription: "still fresh", fetched: 6, due: 5, fresh: 1, expected: .use(.fresh)),
        Reuse(testDescription: "no longer fresh", fetched: 6, due: 5, fresh: 0, expected: .fetch),
        Reuse(
            testDescription: "stale, with an entity tag", fetched: 6, due: 5, fresh: -1, tag: "\"1\"",
            expected: .revalidate(tag)),
        Reuse(
            testDescription: "fresh, with an entity tag", fetched: 6, due: 5, fresh: 1, tag: "\"1\"",
            expected: .use(.fresh)),
        Reuse(
            testDescription: "an earlier failure", fetched: 6, due: 5, outcome: .rejected,
            error: .sourceNotFound, fresh: 100, tag: "\"1\"", expected: .fetch),
        Reuse(
            testDescription: "an earlier best attempt", fetched: 6, due: 5, outcome: .bestAttempt, fresh: 100,
            tag: "\"1\"", expected: .fetch),
        Reuse(testDescription: "an upload", fetched: 6, due: 5, isUpload: true, expected: .use(.fresh)),
        Reuse(
            testDescription: "fetched in the future: the clock was set back", fetched: -3600, due: 0, fresh: 9000,
            expected: .fetch),
    ]) func `A stored result is used, revalidated or fetched again`(row: Reuse) {
        let due = Self.now.addingTimeInterval(-row.due)
        #expect(ReuseDecision(row.stored, dueAt: due, isUpload: row.isUpload, now: Self.now) == row.expected)
    }

    @Test func `Without a stored result, the source is fetched`() {
        #expect(ReuseDecision(nil, dueAt: Self.now, isUpload: false, now: Self.now) == .fetch)
    }

    // MARK: Retry

    private func decide(
        _ code: ErrorCode = .downloadTimeout, failures: Int = 1, notAfter: Double? = nil, chance: Double = 0.5,
        failed: Double = 0
    ) -> RetryDecision {
        RetryDecision(
            after: ManifestError(AttachPrepError(code, "No.")), failures: failures,
            notAfter: notAfter.map { Self.now.addingTimeInterval($0) }, policy: RetryPolicy(),
            failedAt: Self.now.addingTimeInterval(-failed), now: Self.now, chance: chance)
    }

    @Test(arguments: ErrorCode.allCases) func `Only temporary errors are retried`(code: ErrorCode) {
        #expect(decide(code) == (code.isRetryable ? .retry(at: Self.now.addingTimeInterval(2.5)) : .fail))
    }

    @Test(arguments: [(1, 5.0), (2, 10), (3, 20), (4, 40)])
    func `The back-off doubles, and the delay is a random part of it`(failures: Int, seconds: Double) {
        #expect(decide(failures: failures, chance: 0) == .retry(at: Self.now.addingTimeInterval(0.005)))
        #expect(decide(failures: failures, chance: 1) == .retry(at: Self.now.addingTimeInterval(seconds)))
    }

    @Test(arguments: [8, 60, 4_000]) func `The back-off has a maximum`(failures: Int) {
        #expect(RetryPolicy().delayMax(failures: failures) == Limits.jobBackOffSecondsMax)
    }

    @Test(arguments: [Limits.jobAttemptsMax, Limits.jobAttemptsMax + 1])
    func `A job is dead when its attempts are used up`(failures: Int) {
        #expect(decide(failures: failures) == .markDead)
        #expect(decide(.mediaCorrupt, failures: failures) == .fail)
    }

    @Test func `No attempt starts after the job's notAfter`() {
        #expect(decide(notAfter: 2.6) == .retry(at: Self.now.addingTimeInterval(2.5)))
        #expect(decide(notAfter: 2.5) == .fail)
    }

    @Test func `The delay starts at the failure and ends after now`() {
        #expect(decide(failed: 1) == .retry(at: Self.now.addingTimeInterval(1.5)))
        #expect(decide(failed: 60) == .retry(at: Self.now.addingTimeInterval(0.005)))
        #expect(decide(failed: -3_600) == .retry(at: Self.now.addingTimeInterval(2.5)))
    }

    @Test func `Jobs that share a failure have the same delay, others a random one`() {
        let chances = (0..<100).map { RetryDecision.chance(WorkKey("key \($0)"), failedAt: Self.now) }
        #expect(chances.allSatisfy { 0 <= $0 && $0 < 1 })
        #expect(chances.contains { $0 < 0.2 } && chances.contains { $0 > 0.8 })
        #expect(chances[3] == RetryDecision.chance(WorkKey("key 3"), failedAt: Self.now))
    }

    // MARK: Start

    @Test func `A job that lost too many workers is dead, and one past its notAfter has failed`() {
        let begin = { (losses: Int, left: Double?) in
            StartDecision(losses: losses, notAfter: left.map { Self.now.addingTimeInterval($0) }, now: Self.now)
        }
        #expect(begin(0, nil) == .begin)
        #expect(begin(Limits.jobLossesMax - 1, 1) == .begin)
        guard case .markDead(let poison) = begin(Limits.jobLossesMax, nil), case .fail(let late) = begin(0, 0)
        else {
            Issue.record("the job started")
            return
        }
        #expect(poison.code == .jobWorkerLost && !poison.isRetryable)
        #expect(late.code == .deadlineNotAfter && !late.isRetryable)
    }
}
