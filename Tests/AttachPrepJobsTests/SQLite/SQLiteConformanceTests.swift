import AttachPrepJobs
import Testing

@Suite struct SQLiteConformanceTests {
    private var limits: StoreLimits {
        var limits = StoreLimits()
        limits.queuedJobsMax = DriverUnderTest.queuedJobsMax
        return limits
    }

    @Test(arguments: JobQueueConformance.behaviours)
    func `SQLite is a job queue`(_ behaviour: Behaviour) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behaviour.check(sqlite.driver)
    }

    @Test(arguments: JobQueueConformance.crashes)
    func `In SQLite a crash costs the job that is to blame`(_ behaviour: Behaviour) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behaviour.check(sqlite.driver)
    }

    @Test(arguments: JobCatalogConformance.behaviours)
    func `SQLite is a job catalog`(_ behaviour: Behaviour) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behaviour.check(sqlite.driver)
    }

    @Test(arguments: ReceiptStoreConformance.behaviours)
    func `SQLite is a receipt store`(_ behaviour: ReceiptBehaviour) async throws {
        let sqlite = try await SQLiteUnderTest(limits)
        try await behaviour.check(sqlite.receipts)
    }
}
