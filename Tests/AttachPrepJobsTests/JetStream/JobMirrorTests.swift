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

    private func hear(_ job: StoredJob, _ revision: UInt64) async throws {
        let entry = KeyValueEntry(key: QueueKeys.job(job.id), value: try job.bytes(), revision: revision)
        try await mirror.apply([entry], at: moment, notifiesListeners: true)
        mirror.progress.received(revision)
    }

    private func known(_ job: StoredJob) async throws -> VersionedJob? {
        try await mirror.lookup([job.id]).jobs[job.id]
    }

    @Test(arguments: [StoredJob.full(.queued), .full(.running), .full(.failed)])
    func `a job is in the tables as the servers have it`(_ job: StoredJob) async throws {
        try await hear(job, 7)
        #expect(try await known(job) == VersionedJob(value: job, revision: 7, receivedAt: moment.steady))
    }

    @Test func `of two changes the later one holds, in whatever order they are received of`() async throws {
        let (first, last) = (StoredJob.full(.queued), StoredJob.full(.failed))
        try await hear(last, 8)
        try await hear(first, 7)
        #expect(try await known(first) == VersionedJob(value: last, revision: 8, receivedAt: moment.steady))
    }

    @Test func `a job that was removed does not come back with what is received late`() async throws {
        let job = StoredJob.full(.running)
        try await hear(job, 7)
        let mark = KeyValueEntry(key: QueueKeys.job(job.id), value: nil, revision: 9)
        try await mirror.apply([mark], at: moment, notifiesListeners: true)
        try await hear(job, 8)
        #expect(try await known(job) == nil)
    }

    @Test func `a value that cannot be read is no job here, and is left to who can read it`() async throws {
        let job = StoredJob.full(.running)
        try await hear(job, 7)
        let odd = KeyValueEntry(key: QueueKeys.job(job.id), value: Array(#"{"version":9}"#.utf8), revision: 8)
        try await mirror.apply([odd], at: moment, notifiesListeners: true)
        #expect(try await known(job) == nil)
        #expect(try await mirror.removed(receivedUntil: .max, count: 10).isEmpty)
        try await hear(job, 9)
        #expect(try await known(job)?.revision == 9)
    }

    @Test func `the jobs of a batch are there once it is whole`() async throws {
        var job = StoredJob.full(.queued)
        job.batch = "all"
        try await hear(job, 7)
        #expect(try await known(job) == nil)
        let whole = KeyValueEntry(key: QueueKeys.batch("all"), value: [], revision: 8)
        try await mirror.apply([whole], at: moment, notifiesListeners: true)
        #expect(try await known(job) == VersionedJob(value: job, revision: 7, receivedAt: moment.steady))
    }

    @Test func `a change of our own that does not come back is taken in all the same`() async throws {
        let job = StoredJob.full(.running)
        let change = VersionedJob(value: job, revision: 7, receivedAt: moment.steady)
        try await mirror.apply([change], at: moment)
        #expect(try await known(job) == change)
        // Nothing is received: nobody waits for it a second time.
        #expect(await !mirror.progress.wait(for: 8, atMost: .seconds(600)))
    }

    @Test func `who waits for a change hears of it`() async throws {
        async let isHeard = mirror.progress.wait(for: 7, atMost: .seconds(60))
        try await hear(.full(.running), 7)
        #expect(await isHeard)
        #expect(await mirror.progress.wait(for: 6, atMost: .seconds(60)))
    }

    @Test func `a change that comes back is known by what was sent`() throws {
        let own = LocalWriteCache()
        let job = StoredJob.full(.running)
        let bytes = try own.bytes(of: job)
        #expect(own.job(job.id, bytes) == job)
        #expect(own.job(job.id, try StoredJob.full(.failed).bytes()) == nil)
        #expect(own.job("another", bytes) == nil)
    }
}
