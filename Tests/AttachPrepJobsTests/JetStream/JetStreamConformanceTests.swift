import AttachPrepJobs
import Testing

@Suite struct JetStreamConformanceTests {
    private var limits: StoreLimits {
        var limits = StoreLimits()
        limits.queuedJobsMax = DriverUnderTest.queuedJobsMax
        return limits
    }

    @Test(arguments: JobQueueConformance.behaviours)
    func `JetStream is a job queue`(_ behaviour: Behaviour) async throws {
        let jetStream = try await JetStreamUnderTest(limits)
        try await behaviour.check(jetStream.driver)
        await jetStream.queue.close()
    }

    /// Messages of a process that is gone come again after a real lease, so it is a short one.
    @Test(arguments: JobQueueConformance.crashes)
    func `On JetStream a crash costs the job that is to blame`(_ behaviour: Behaviour) async throws {
        let jetStream = try await JetStreamUnderTest(limits, lease: .seconds(1))
        try await behaviour.check(jetStream.driver)
        await jetStream.queue.close()
    }

    @Test(arguments: JobCatalogConformance.behaviours)
    func `JetStream is a job catalog`(_ behaviour: Behaviour) async throws {
        let jetStream = try await JetStreamUnderTest(limits)
        try await behaviour.check(jetStream.driver)
        await jetStream.queue.close()
    }

    @Test(arguments: OutboxConformance.behaviours)
    func `JetStream is an outbox`(_ behaviour: Behaviour) async throws {
        let jetStream = try await JetStreamUnderTest(limits)
        try await behaviour.check(jetStream.driver)
        await jetStream.queue.close()
    }
}
