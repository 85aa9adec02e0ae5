import Foundation
import NATS
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

@Suite struct JobMirrorTests {
    private let mirror: JobMirror
    private let folder: TemporaryFolder
    private let moment = StoreMoment(wall: 1_000_000, steady: 5_000, bootID: "")

    init() throws {
        folder = try TemporaryFolder()
        mirror = try JobMirror(path: folder.path("mirror"), feed: JobFeed(), at: TestClock().storeClock().now())
    }

    private func receive(_ job: StoredJob, _ revision: UInt64) async throws {
        let entry = KeyValueEntry(key: QueueKeys.job(job.id), value: try job.bytes(), revision: revision)
        try await mirror.apply([entry], at: moment, notifiesListeners: true)
        mirror.progress.received(revision)
    }

    private func stored(_ job: StoredJob) async throws -> VersionedJob? {
        try await mirror.lookup([job.id]).jobs[job.id]
    }

    @Test(arguments: [StoredJob.full(.queued), .full(.running), .full(.failed)])
    func `A job is stored in the tables as received`(_ job: StoredJob) async throws {
        try await receive(job, 7)
        #expect(try await stored(job) == VersionedJob(value: job, revision: 7, receivedAt: moment.steady))
    }

    @Test func `The change with the later revision wins, in whatever order they are received`() async throws {
        let (first, last) = (StoredJob.full(.queued), StoredJob.full(.failed))
        try await receive(last, 8)
        try await receive(first, 7)
        #expect(try await stored(first) == VersionedJob(value: last, revision: 8, receivedAt: moment.steady))
    }

    @Test func `A change that is received late does not restore a removed job`() async throws {
        let job = StoredJob.full(.running)
        try await receive(job, 7)
        let tombstone = KeyValueEntry(key: QueueKeys.job(job.id), value: nil, revision: 9)
        try await mirror.apply([tombstone], at: moment, notifiesListeners: true)
        try await receive(job, 8)
        #expect(try await stored(job) == nil)
    }

    @Test func `An unreadable value hides its job without counting as a removal`() async throws {
        let job = StoredJob.full(.running)
        try await receive(job, 7)
        let unreadable = KeyValueEntry(key: QueueKeys.job(job.id), value: Array(#"{"version":9}"#.utf8), revision: 8)
        try await mirror.apply([unreadable], at: moment, notifiesListeners: true)
        #expect(try await stored(job) == nil)
        #expect(try await mirror.removed(receivedUntil: .max, count: 10).isEmpty)
        try await receive(job, 9)
        #expect(try await stored(job)?.revision == 9)
    }

    @Test func `The jobs of a batch are visible once the batch is complete`() async throws {
        var job = StoredJob.full(.queued)
        job.batch = "all"
        try await receive(job, 7)
        #expect(try await stored(job) == nil)
        let whole = KeyValueEntry(key: QueueKeys.batch("all"), value: [], revision: 8)
        try await mirror.apply([whole], at: moment, notifiesListeners: true)
        #expect(try await stored(job) == VersionedJob(value: job, revision: 7, receivedAt: moment.steady))
    }

    @Test func `A local change is applied without being received from the servers`() async throws {
        let job = StoredJob.full(.running)
        let change = VersionedJob(value: job, revision: 7, receivedAt: moment.steady)
        try await mirror.apply([change], at: moment)
        #expect(try await stored(job) == change)
        // Nothing was received for a while: the next wait ends immediately.
        #expect(await !mirror.progress.wait(for: 8, atMost: .seconds(600)))
    }

    @Test func `Waiting for a revision ends when it is received`() async throws {
        async let isReceived = mirror.progress.wait(for: 7, atMost: .seconds(60))
        try await receive(.full(.running), 7)
        #expect(await isReceived)
        #expect(await mirror.progress.wait(for: 6, atMost: .seconds(60)))
    }

    @Test func `A received change is recognized by the bytes that were sent`() throws {
        let writes = LocalWriteCache()
        let job = StoredJob.full(.running)
        let bytes = try writes.bytes(of: job)
        #expect(writes.job(job.id, bytes) == job)
        #expect(writes.job(job.id, try StoredJob.full(.failed).bytes()) == nil)
        #expect(writes.job("another", bytes) == nil)
    }
}
