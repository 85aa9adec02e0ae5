import AttachPrepJobs
import JetStreamQueue
import NATS
import TestSupport

/// A queue on a server of its own, with its clock in the test's hand.
struct JetStreamUnderTest: Sendable {
    let server: NATSServer
    let folder: TemporaryFolder
    let queue: NATSJobQueue
    let clock: TestClock
    let feed: JobFeed
    let lease: Duration

    /// - Parameter server: of another queue under test, which then sees the same jobs.
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
            NATSSettings(servers: [server.url]), folder: folder.path("machine"), lease: lease, limits: limits,
            clock: clock.storeClock(), feed: feed)
    }

    var driver: DriverUnderTest {
        DriverUnderTest(jobs: queue, clock: clock, feed: feed) { [self] in try await restarted($0).driver }
    }

    func restarted(_ mark: LeftMark) async throws -> JetStreamUnderTest {
        await queue.close()
        try folder.overwrite("machine/run", with: mark)
        return try await JetStreamUnderTest(server: server, clock: clock, lease: lease, folder: folder)
    }
}
