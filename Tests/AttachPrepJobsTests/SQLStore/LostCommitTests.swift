import AttachPrepJobs
import TestSupport
import Testing

/// A connection that is lost during a commit: the change happens once, whether the server had received it or not.
@Suite struct LostCommitTests {
    @Test(arguments: [true, false])
    func `A job whose commit was not confirmed is stored once, and its caller gets it`(
        _ isForwarded: Bool
    ) async throws {
        let direct = try await PostgresUnderTest()
        let relay = try PostgresRelay(to: try await PostgresUnderTest.sharedServer)
        let relayed = try await direct.other(through: relay)
        _ = try await relayed.store.counts()
        relay.cutAtRequest(with: "COMMIT\0", isForwarded: isForwarded)
        let id = try await relayed.driver.enqueue(.sample())[0]
        #expect(try await direct.driver.job(id).state == .queued)
        #expect(try await direct.store.counts().byState[.queued] == 1)
        #expect(try await direct.store.count(JobFilter(states: [.queued])) == 1)
        await relayed.close()
        await direct.close()
    }

    @Test(arguments: [true, false])
    func `A job whose end was not confirmed has ended once, with one webhook`(_ isForwarded: Bool) async throws {
        let direct = try await PostgresUnderTest()
        let relay = try PostgresRelay(to: try await PostgresUnderTest.sharedServer)
        let relayed = try await direct.other(through: relay)
        let id = try await relayed.driver.enqueue(.sample())[0]
        let lease = try await relayed.driver.claimOne().lease
        relay.cutAtRequest(with: "COMMIT\0", isForwarded: isForwarded)
        #expect(try await relayed.store.finish(lease, .succeeded(.sample(), .make()), notice: .sample()))
        #expect(try await direct.driver.job(id).state == .succeeded)
        #expect(try await direct.store.webhooks(WebhookFilter(), after: nil, limit: 9).webhooks.count == 1)
        let counts = try await direct.store.counts().byState
        #expect(counts[.queued] == 0 && counts[.running] == 0 && counts[.succeeded] == 1)
        await relayed.close()
        await direct.close()
    }
}
