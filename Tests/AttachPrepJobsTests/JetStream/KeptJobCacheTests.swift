import Testing

@testable import AttachPrepJobs

@Suite struct KeptJobCacheTests {
    private let cache = KeptJobCache()

    @Test func `a job is as its bytes are, whoever has written them`() throws {
        let job = try KeptJob.sample()
        let other = try #require(job.calledOff(at: 1))
        let bytes = try cache.bytes(of: job)
        #expect(try cache.job(job.id, bytes) == job)
        #expect(try cache.job(job.id, other.bytes()) == other)
        #expect(try cache.job(job.id, other.bytes()) == other)
        #expect(try cache.job(job.id, bytes) == job)
    }

    @Test func `what no version wrote is refused, also under the name of one that is known`() throws {
        let job = try KeptJob.sample()
        _ = try cache.bytes(of: job)
        #expect(throws: (any Error).self) { try cache.job(job.id, Array("{}".utf8)) }
        #expect(try cache.job(job.id, job.bytes()) == job)
    }

    @Test func `jobs of long ago are read as they are`() throws {
        let written = try (0..<3_000).map { _ in
            let job = try KeptJob.sample()
            return (job, try cache.bytes(of: job))
        }
        for (job, bytes) in written { #expect(try cache.job(job.id, bytes) == job) }
    }
}
