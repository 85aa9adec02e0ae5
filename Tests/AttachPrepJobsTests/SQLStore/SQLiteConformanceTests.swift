import AttachPrepJobs
import SQLStore
import SQLiteDatabase
import TestSupport
import Testing

@Suite struct SQLiteConformanceTests {
    private var limits: StoreLimits {
        var limits = StoreLimits()
        limits.queuedJobsMax = DriverUnderTest.queuedJobsMax
        return limits
    }

    @Test(arguments: JobQueueConformance.behaviors)
    func `SQLite conforms to JobQueue`(_ behavior: Behavior) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behavior.check(sqlite.driver)
    }

    @Test(arguments: JobQueueConformance.losses)
    func `In SQLite, a job whose worker was lost is retried`(_ behavior: Behavior) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behavior.check(sqlite.driver)
    }

    @Test(arguments: JobCatalogConformance.behaviors)
    func `SQLite conforms to JobCatalog`(_ behavior: Behavior) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behavior.check(sqlite.driver)
    }

    @Test(arguments: ReceiptStoreConformance.behaviors)
    func `SQLite conforms to ReceiptStore`(_ behavior: ReceiptBehavior) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behavior.check(sqlite.receipts)
    }
}

/// A store in a folder of its own, with a clock that the test controls.
struct SQLiteUnderTest: Sendable {
    let folder: TemporaryFolder
    let store: SQLJobStore
    let clock: TestClock
    let feed: JobFeed

    init(
        _ limits: StoreLimits = StoreLimits(), folder: TemporaryFolder? = nil, clock: TestClock = TestClock(),
        durability: StoreDurability = .normal, role: StoreRole = .service, bootID: String = "first start"
    ) async throws {
        let (folder, feed) = (try folder ?? TemporaryFolder(), JobFeed())
        self.folder = folder
        self.clock = clock
        self.feed = feed
        store = try await SQLiteStore.open(
            folder: folder.path("state"), durability: durability, role: role, limits: limits,
            clock: clock.storeClock(bootID: bootID), feed: feed)
    }

    var receipts: ReceiptDriverUnderTest { ReceiptDriverUnderTest(store: store, clock: clock) }

    var driver: DriverUnderTest {
        DriverUnderTest(jobs: store, clock: clock, feed: feed) { [self] in try await restarted().driver }
    }

    /// Closes the store without returning its jobs, like a process that was killed, and opens it again.
    func restarted() async throws -> SQLiteUnderTest {
        await store.close()
        return try await SQLiteUnderTest(folder: folder, clock: clock)
    }
}
