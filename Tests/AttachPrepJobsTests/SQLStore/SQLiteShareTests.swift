import AttachPrep
import AttachPrepJobs
import MediaTypes
import Testing

/// What one caller's jobs leave to others, in claims.
@Suite struct SQLiteShareTests {
    private func submission(_ caller: String, _ host: String? = "cdn.example") -> JobSubmission {
        var submission = JobSubmission.sample(host: host)
        submission.origin.caller = caller
        return submission
    }

    private func callers(_ jobs: [ClaimedJob]) -> [String] { jobs.map { $0.job.origin.caller ?? "" } }

    private func opened(runningPerCallerMax: Int = .max) async throws -> SQLiteUnderTest {
        var limits = StoreLimits()
        limits.runningPerCallerMax = runningPerCallerMax
        return try await SQLiteUnderTest(limits)
    }

    @Test func `A caller's backlog leaves slots to another caller, and goes on as its jobs end`() async throws {
        let sqlite = try await opened(runningPerCallerMax: 3)
        _ = try await sqlite.store.enqueue((0..<200).map { submission("a", "host-\($0).example") }, idempotency: nil)
        _ = try await sqlite.driver.enqueue(submission("b"))
        let jobs = try await sqlite.driver.claim(10)
        #expect(callers(jobs).sorted() == ["a", "a", "a", "b"])
        #expect(try await sqlite.driver.claim(10).isEmpty)
        #expect(try await sqlite.store.counts().due == 197)
        _ = try await sqlite.store.finish(jobs[0].lease, .succeeded(.sample(), .make()), notice: nil)
        #expect(callers(try await sqlite.driver.claim(10)) == ["a"])
        // A higher limit, as after a reload with one token.
        sqlite.store.apply(StoreLimits())
        #expect(try await sqlite.driver.claim(100).count == 100)
    }

    @Test func `The limit of a host counts each caller's jobs`() async throws {
        let sqlite = try await opened()
        _ = try await sqlite.driver.enqueue(
            submission("a"), submission("a"), submission("a"), submission("b"), submission("a", "other.example"))
        let jobs = try await sqlite.driver.claim(10, hostLimit: 2)
        #expect(callers(jobs).sorted() == ["a", "a", "a", "b"])
    }

    @Test func `The uploads of a caller count as one host`() async throws {
        let sqlite = try await opened()
        _ = try await sqlite.driver.enqueue(
            submission("a", nil), submission("a", nil), submission("a", nil), submission("a"), submission("b", nil))
        let jobs = try await sqlite.driver.claim(10, hostLimit: 2)
        #expect(callers(jobs).sorted() == ["a", "a", "a", "b"])
    }
}
