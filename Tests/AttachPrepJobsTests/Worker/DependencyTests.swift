import AttachPrep
import Logging
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

/// Which dependency a failure names, and when it is tried again.
@Suite struct DependencyTests {
    private let start = ContinuousClock.now

    private static let dependencies: [ErrorCode: Dependency] = [
        .outputNoSpace: .disk, .outputNotWritable: .disk, .queueUnavailable: .database, .publishUnavailable: .bucket,
        .publishNotFound: .bucket, .publishDenied: .signingKey,
    ]

    @Test(arguments: ErrorCode.allCases) func `A failure names its dependency, or is the job's own`(code: ErrorCode) {
        #expect(Dependency(namedBy: code, isResolverAway: false) == Self.dependencies[code])
    }

    @Test func `A name that is not resolved is the job's failure, unless no name is`() {
        #expect(Dependency(namedBy: .downloadDNS, isResolverAway: false) == nil)
        #expect(Dependency(namedBy: .downloadDNS, isResolverAway: true) == .resolver)
        #expect(Dependency(namedBy: .downloadTimeout, isResolverAway: true) == nil)
    }

    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (60, 30), (Int.max, 30)])
    func `Pauses double up to the maximum`(failures: Int, seconds: Int) {
        #expect(CircuitBreaker.pause(failures: failures) == .seconds(seconds))
    }

    @Test func `Jobs that fail together count as one failure`() {
        var breaker = CircuitBreaker()
        #expect(breaker.allowance(at: start, hasProbe: false) == .all)
        let first = breaker.recordFailure("The disk is full.", at: start)
        let second = breaker.recordFailure("The disk is full.", at: start + .milliseconds(900))
        #expect(first && !second)
        #expect(breaker.opening?.failures == 1)
        #expect(breaker.allowance(at: start + .milliseconds(999), hasProbe: false) == .none)
        #expect(breaker.allowance(at: start + .seconds(1), hasProbe: false) == .one)
        #expect(breaker.allowance(at: start + .seconds(1), hasProbe: true) == .none)
    }

    @Test func `A failed trial doubles the pause, and a successful one closes the breaker`() {
        var breaker = CircuitBreaker()
        _ = breaker.recordFailure("Away.", at: start)
        let (early, due) = (breaker.beginTrial(at: start), breaker.beginTrial(at: start + .seconds(1)))
        let again = breaker.beginTrial(at: start + .seconds(1))
        #expect(!early && due && !again)
        let isChange = breaker.recordFailure("Away.", at: start + .seconds(2), isTrial: true)
        #expect(!isChange)
        let (before, after) = (breaker.beginTrial(at: start + .seconds(3)), breaker.beginTrial(at: start + .seconds(4)))
        #expect(!before && after)
        let (closed, closedBefore) = (breaker.recordSuccess(), breaker.recordSuccess())
        #expect(closed && !closedBefore)
        #expect(breaker.allowance(at: start + .seconds(4), hasProbe: true) == .all)
    }

    @Test func `A new reason is reported`() {
        var breaker = CircuitBreaker()
        _ = breaker.recordFailure("The disk is full.", at: start)
        let isNew = breaker.recordFailure("The disk is read-only.", at: start + .seconds(1))
        #expect(isNew)
        #expect(breaker.opening?.reason == "The disk is read-only.")
    }

    @Test func `Results wait within the media quota, and a job counts once`() throws {
        let (folder, jobs) = (try TemporaryFolder(), (0..<3).map { _ in JobID.make() })
        let storage = HeldResultStorage(output: folder.path, bytesMax: 100)
        #expect(storage.reserve(60, for: jobs[0]) && !storage.reserve(50, for: jobs[1]))
        #expect(storage.reserve(60, for: jobs[0]) && storage.reserve(40, for: jobs[1]))
        storage.remove(jobs[0])
        #expect(storage.reserve(60, for: jobs[2]))
    }
}
