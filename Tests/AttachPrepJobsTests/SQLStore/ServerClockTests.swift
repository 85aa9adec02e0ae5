import AttachPrepJobs
import TestSupport
import Testing

/// The clock of the database is set back, as by a failover to a server whose clock is behind.
@Suite struct ServerClockTests {
    @Test func `Jobs that are enqueued after the clock was set back are claimed`() async throws {
        let postgres = try await PostgresUnderTest()
        _ = try await postgres.driver.ended(.cancelled)
        postgres.clock.advance(-3_600)
        let id = try await postgres.driver.enqueue(.sample())[0]
        #expect(try await postgres.driver.claimOne().job.id == id)
        await postgres.close()
    }

    @Test func `A job that is returned after the clock was set back is claimed again`() async throws {
        let postgres = try await PostgresUnderTest()
        let id = try await postgres.driver.enqueue(.sample())[0]
        let lease = try await postgres.driver.claimOne().lease
        postgres.clock.advance(-3_600)
        try await postgres.store.release([lease])
        #expect(try await postgres.driver.claimOne().job.id == id)
        await postgres.close()
    }
}
