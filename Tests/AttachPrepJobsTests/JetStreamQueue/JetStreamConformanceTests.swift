import AttachPrepJobs
import JetStreamQueue
import NATS
import TestSupport
import Testing

@Suite struct JetStreamConformanceTests {
    private var limits: StoreLimits {
        var limits = StoreLimits()
        limits.queuedJobsMax = DriverUnderTest.queuedJobsMax
        return limits
    }

    @Test(arguments: JobQueueConformance.behaviors)
    func `JetStream conforms to JobQueue`(_ behavior: Behavior) async throws {
        let jetStream = try await JetStreamUnderTest(limits)
        try await behavior.check(jetStream.driver)
        await jetStream.queue.close()
    }

    /// With a short lease, because the messages of an ended process are redelivered after a real lease.
    @Test(arguments: JobQueueConformance.losses)
    func `On JetStream, a job whose worker was lost is retried`(_ behavior: Behavior) async throws {
        let jetStream = try await JetStreamUnderTest(limits, lease: .seconds(1))
        try await behavior.check(jetStream.driver)
        await jetStream.queue.close()
    }

    @Test(arguments: JobCatalogConformance.behaviors)
    func `JetStream conforms to JobCatalog`(_ behavior: Behavior) async throws {
        let jetStream = try await JetStreamUnderTest(limits)
        try await behavior.check(jetStream.driver)
        await jetStream.queue.close()
    }

    @Test(arguments: OutboxConformance.behaviors)
    func `JetStream conforms to WebhookOutbox`(_ behavior: Behavior) async throws {
        let jetStream = try await JetStreamUnderTest(limits)
        try await behavior.check(jetStream.driver)
        await jetStream.queue.close()
    }
}

/// A queue on a NATS server of its own, with a clock that the test controls.
struct JetStreamUnderTest: Sendable {
    let server: NATSServer
    let folder: TemporaryFolder
    let queue: NATSJobQueue
    let clock: TestClock
    let feed: JobFeed
    let lease: Duration

    /// - Parameter server: the server of another queue under test, to share its jobs.
    init(
        _ limits: StoreLimits = StoreLimits(), server: NATSServer? = nil, clock: TestClock = TestClock(),
        lease: Duration = .seconds(15), folder: TemporaryFolder? = nil
    ) async throws {
        let (folder, feed) = (try folder ?? TemporaryFolder(), JobFeed())
        let server = if let server { server } else { try await NATSServer.start() }
        self.server = server
        self.folder = folder
        self.clock = clock
        self.feed = feed
        self.lease = lease
        queue = try await NATSJobQueue.open(
            QueueServers(NATSSettings(servers: [server.url])), folder: folder.path("machine"), lease: lease,
            limits: limits, clock: clock.storeClock(), feed: feed)
    }

    var driver: DriverUnderTest {
        DriverUnderTest(jobs: queue, clock: clock, feed: feed) { [self] in try await restarted().driver }
    }

    func restarted() async throws -> JetStreamUnderTest {
        await queue.close()
        return try await JetStreamUnderTest(server: server, clock: clock, lease: lease, folder: folder)
    }
}
