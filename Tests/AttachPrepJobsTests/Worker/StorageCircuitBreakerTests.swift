import AttachPrep
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

/// When a worker stops claiming jobs because its machine cannot store results, and when it tries again.
@Suite struct StorageCircuitBreakerTests {
    private let start = ContinuousClock.now
    private let full = ManifestError(AttachPrepError(.outputNoSpace, "The disk is full."))

    @Test(arguments: [
        (ErrorCode.outputNoSpace, true), (.outputNotWritable, true), (.queueUnavailable, true),
        (.downloadTimeout, false), (.mediaDecoderCrashed, false), (.publishUnavailable, false), (.internal, false),
    ])
    func `Only storage errors open the breaker`(_ code: ErrorCode, isStorage: Bool) {
        #expect(StorageCircuitBreaker.isStorage(code) == isStorage)
    }

    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (60, 30), (Int.max, 30)])
    func `Pauses double up to the maximum`(failures: Int, seconds: Int) {
        #expect(StorageCircuitBreaker.pause(failures: failures) == .seconds(seconds))
    }

    @Test func `Jobs that fail together count as one failure`() {
        var breaker = StorageCircuitBreaker()
        #expect(breaker.allowance(at: start) == .all)
        let first = breaker.recordFailure(full, at: start)
        let second = breaker.recordFailure(full, at: start + .milliseconds(900))
        #expect(first && !second)
        #expect(breaker.opening?.failures == 1)
        #expect(breaker.allowance(at: start + .milliseconds(999)) == .none)
        #expect(breaker.allowance(at: start + .seconds(1)) == .one)
    }

    @Test func `A failed trial doubles the pause, and a successful one closes the breaker`() {
        var breaker = StorageCircuitBreaker()
        _ = breaker.recordFailure(full, at: start)
        let again = breaker.recordFailure(full, at: start + .seconds(1))
        #expect(!again)
        #expect(breaker.allowance(at: start + .seconds(2)) == .none)
        let (closed, closedBefore) = (breaker.recordSuccess(), breaker.recordSuccess())
        #expect(closed && !closedBefore)
        #expect(breaker.allowance(at: start + .seconds(2)) == .all)
        let isFirst = breaker.recordFailure(full, at: start + .seconds(4))
        #expect(isFirst)
        #expect(breaker.opening?.failures == 1)
    }

    @Test func `A new reason is reported`() {
        var breaker = StorageCircuitBreaker()
        _ = breaker.recordFailure(full, at: start)
        let readOnly = ManifestError(AttachPrepError(.outputNotWritable, "The disk is read-only."))
        let isNew = breaker.recordFailure(readOnly, at: start + .seconds(1))
        #expect(isNew)
        #expect(breaker.opening?.reason == "The disk is read-only.")
    }
}
