import AttachPrepJobs
import Foundation
import Logging
import PostgresDatabase
import SQLStore
import Synchronization
import TestSupport
import Testing

/// The behaviors of the store on a real PostgreSQL server.
@Suite struct PostgresConformanceTests {
    private var limits: StoreLimits {
        var limits = StoreLimits()
        limits.queuedJobsMax = DriverUnderTest.queuedJobsMax
        return limits
    }

    @Test(arguments: JobQueueConformance.behaviors.filter { !$0.isOfLocalClock })
    func `PostgreSQL conforms to JobQueue`(_ behavior: Behavior) async throws {
        let postgres = try await PostgresUnderTest(limits)
        try await behavior.check(postgres.driver)
        await postgres.close()
    }

    @Test(arguments: JobQueueConformance.losses)
    func `In PostgreSQL, a job whose worker was lost is retried`(_ behavior: Behavior) async throws {
        let postgres = try await PostgresUnderTest(limits)
        try await behavior.check(postgres.driver)
        await postgres.close()
    }

    @Test(arguments: JobCatalogConformance.behaviors)
    func `PostgreSQL conforms to JobCatalog`(_ behavior: Behavior) async throws {
        let postgres = try await PostgresUnderTest(limits)
        try await behavior.check(postgres.driver)
        await postgres.close()
    }

    @Test(arguments: OutboxConformance.behaviors)
    func `PostgreSQL conforms to WebhookOutbox`(_ behavior: Behavior) async throws {
        let postgres = try await PostgresUnderTest(limits)
        try await behavior.check(postgres.driver)
        await postgres.close()
    }

    @Test(arguments: ReceiptStoreConformance.behaviors)
    func `PostgreSQL conforms to ReceiptStore`(_ behavior: ReceiptBehavior) async throws {
        let postgres = try await PostgresUnderTest(limits)
        try await behavior.check(ReceiptDriverUnderTest(store: postgres.store, clock: postgres.clock))
        await postgres.close()
    }
}

/// A queue whose secrets are sealed with a key that a machine does not have.
@Suite struct MissingKeyTests {
    @Test func `A job whose key is missing waits without an attempt, and others go on`() async throws {
        let postgres = try await PostgresUnderTest()
        var sealed = JobSubmission.sample()
        sealed.request.headers = ["Authorization": "Bearer secret"]
        let ids = try await postgres.driver.enqueue(sealed, .sample())
        let other = try await postgres.other(seal: "k2:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=")
        #expect(try await other.driver.claim(2).map(\.job.id) == [ids[1]])
        #expect(other.store.outages.map(\.dependency) == [.queueKey] && postgres.store.outages.isEmpty)
        #expect(other.store.unavailableReason?.contains("\"k1\"") == true)
        let waiting = try await postgres.driver.job(ids[0])
        #expect(waiting.state == .queued && waiting.attempts == 0 && waiting.error?.code == .queueUnavailable)
        postgres.clock.advance(31)
        let claimed = try await postgres.driver.claimOne()
        #expect(claimed.job.id == ids[0] && claimed.losses == 0 && claimed.job.attempts == 1)
        await other.close()
        await postgres.close()
    }
}

/// A store in a schema of its own on the server that all tests of this process share, with a clock that the test
/// controls.
struct PostgresUnderTest: Sendable {
    let store: SQLJobStore
    let clock: TestClock
    let feed: JobFeed
    private let schema: PostgresSchema
    private let limits: StoreLimits

    /// 32 zero bytes.
    static let seal = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private static let server = Task { try await PostgresServer.start() }
    private static let lastSchema = Mutex(0)

    static var sharedServer: PostgresServer { get async throws { try await server.value } }

    init(_ limits: StoreLimits = StoreLimits()) async throws {
        let number = Self.lastSchema.withLock { last in
            last += 1
            return last
        }
        try await self.init(
            limits, schema: try PostgresSchema("test\(number)"), clock: TestClock(),
            url: try await Self.sharedServer.url)
    }

    private init(
        _ limits: StoreLimits, schema: PostgresSchema, clock: TestClock, url: String, seal: String = Self.seal
    ) async throws {
        (self.limits, self.schema, self.clock, feed) = (limits, schema, clock, JobFeed())
        let database = try await PostgresDatabase.open(
            try PostgresAddress(url), schema: schema, logger: Logger(label: "tests"),
            milliseconds: { clock.serverMilliseconds })
        try await database.ensureSchema()
        try await StoreSchema.migrate(database)
        store = try await SQLJobStore.open(
            database, seal: try SecretSeal(seal), files: nil, uploads: NoUploads(), limits: limits,
            clock: clock.storeClock(), feed: feed)
    }

    /// Another process of the same queue.
    ///
    /// - Parameter relay: what it connects to instead of the server.
    func other(through relay: PostgresRelay? = nil, seal: String = Self.seal) async throws -> PostgresUnderTest {
        let url = if let relay { relay.url } else { try await Self.sharedServer.url }
        return try await PostgresUnderTest(limits, schema: schema, clock: clock, url: url, seal: seal)
    }

    var driver: DriverUnderTest {
        DriverUnderTest(jobs: store, clock: clock, feed: feed) { [self] in
            await store.close()
            return try await other().driver
        }
    }

    func close() async { await store.close() }
}
