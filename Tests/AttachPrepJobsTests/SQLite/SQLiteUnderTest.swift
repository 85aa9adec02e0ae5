import AttachPrepJobs
import SQLiteQueue
import TestSupport

/// A store in a folder of its own, with its clock in the test's hand.
struct SQLiteUnderTest: Sendable {
    let folder: TemporaryFolder
    let store: SQLiteStore
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
        DriverUnderTest(jobs: store, clock: clock, feed: feed) { [self] in try await restarted($0).driver }
    }

    func restarted(_ mark: LeftMark) async throws -> SQLiteUnderTest {
        await store.close()
        try folder.overwrite("state/run", with: mark)
        return try await SQLiteUnderTest(folder: folder, clock: clock)
    }
}
