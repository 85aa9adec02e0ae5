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

    private init(_ limits: StoreLimits, schema: PostgresSchema, clock: TestClock, url: String) async throws {
        (self.limits, self.schema, self.clock, feed) = (limits, schema, clock, JobFeed())
        let database = try await PostgresDatabase.open(
            try PostgresAddress(url), schema: schema, logger: Logger(label: "tests"),
            milliseconds: { clock.serverMilliseconds })
        try await database.ensureSchema()
        try await StoreSchema.migrate(database)
        store = try await SQLJobStore.open(
            database, seal: try SecretSeal(Self.seal), files: nil, uploads: NoUploads(), limits: limits,
            clock: clock.storeClock(), feed: feed)
    }

    /// Another process of the same queue.
    ///
    /// - Parameter relay: what it connects to instead of the server.
    func other(through relay: PostgresRelay? = nil) async throws -> PostgresUnderTest {
        let url = if let relay { relay.url } else { try await Self.sharedServer.url }
        return try await PostgresUnderTest(limits, schema: schema, clock: clock, url: url)
    }

    var driver: DriverUnderTest {
        DriverUnderTest(jobs: store, clock: clock, feed: feed) { [self] in
            await store.close()
            return try await other().driver
        }
    }

    func close() async { await store.close() }
}
