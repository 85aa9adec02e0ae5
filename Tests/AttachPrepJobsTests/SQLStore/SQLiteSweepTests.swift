import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@Suite struct SQLiteSweepTests {
    private static let day = 86_400.0

    @Test func `Finished jobs are removed after their retention, dead ones later, and queued ones never`() async throws
    {
        let sqlite = try await SQLiteUnderTest()
        let failed = try await sqlite.driver.ended(.failed(.rejected(.mediaCorrupt)))
        let dead = try await sqlite.driver.ended(.dead(.rejected(.downloadTimeout)))
        let queued = try await sqlite.driver.enqueue(.sample())[0]
        #expect(try await sqlite.store.sweep().jobs == 0)
        sqlite.clock.advance(Limits.retentionSeconds + 1)
        #expect(try await sqlite.store.sweep().jobs == 1)
        #expect(try await sqlite.store.job(failed) == nil)
        sqlite.clock.advance(Limits.deadRetentionSeconds)
        #expect(try await sqlite.store.sweep().jobs == 1)
        #expect(try await sqlite.store.job(dead) == nil)
        #expect(try await sqlite.store.job(queued) != nil)
    }

    @Test func `A job is removed with its result and files, unless another job has them`() async throws {
        let sqlite = try await SQLiteUnderTest()
        _ = try await sqlite.finishedJob("shared", key: "one")
        sqlite.clock.advance(Limits.retentionSeconds - Self.day)
        let later = try await sqlite.finishedJob("shared", key: "two")
        sqlite.clock.advance(Self.day + 1)
        let first = try await sqlite.store.sweep()
        #expect(first.jobs == 1 && first.results == 1 && first.files == 0)
        #expect(try await sqlite.store.file("attachment.jpg", of: later.result.media) != nil)
        sqlite.clock.advance(Limits.retentionSeconds)
        let second = try await sqlite.store.sweep()
        #expect(second.jobs == 1 && second.results == 1 && second.files == 2 && second.mediaBytes == 0)
        #expect(try sqlite.files("content").isEmpty)
    }

    @Test func `An undelivered webhook keeps its job and the result's files`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let (job, result) = try await sqlite.finishedJob(notice: .sample())
        sqlite.clock.advance(Limits.retentionSeconds + 1)
        #expect(try await sqlite.store.sweep().jobs == 0)
        #expect(try await sqlite.store.file("attachment.jpg", of: result.media) != nil)
        let webhook = try #require(try await sqlite.store.claimWebhooks(1, lease: .seconds(9)).first)
        try await sqlite.store.record(webhook.id, .delivered(status: 200))
        #expect(try await sqlite.store.sweep().jobs == 1)
        #expect(try await sqlite.store.job(job) == nil)
    }

    @Test func `A result without a job is removed when it is neither fresh nor needed`() async throws {
        let sqlite = try await SQLiteUnderTest()
        _ = try await sqlite.store(key: "fresh", freshUntil: sqlite.clock.now + 2 * Self.day)
        _ = try await sqlite.store(key: "needed")
        _ = try await sqlite.store(key: "unused")
        let waiting = try await sqlite.driver.enqueue(.sample(key: "needed"))[0]
        #expect(try await sqlite.store.sweep().results == 0)
        sqlite.clock.advance(Self.day)
        #expect(try await sqlite.store.sweep().results == 1)
        #expect(try await sqlite.store.result(for: WorkKey("unused")) == nil)
        _ = try await sqlite.store.cancel(waiting)
        sqlite.clock.advance(Self.day + 1)
        #expect(try await sqlite.store.sweep().results == 2)
    }

    @Test func `Over the quota, the oldest files are removed, and their jobs keep their manifests`() async throws {
        var limits = StoreLimits()
        limits.mediaQuotaBytes = 200
        let sqlite = try await SQLiteUnderTest(limits)
        var finished: [(job: JobID, result: StoredResult)] = []
        for _ in 0..<4 {
            finished.append(try await sqlite.finishedJob())
            sqlite.clock.advance(60)
        }
        let young = try await sqlite.store.sweep()
        #expect(young.results == 0 && young.isOverQuota)
        sqlite.clock.advance(limits.mediaAgeSecondsMin)
        let report = try await sqlite.store.sweep()
        #expect(report.results == 2 && !report.isOverQuota && report.mediaBytes <= 200)
        let oldest = try await sqlite.driver.job(finished[0].job)
        #expect(oldest.state == .succeeded && oldest.result != nil && oldest.media == nil)
        #expect(try await sqlite.store.file("attachment.jpg", of: finished[0].result.media) == nil)
        #expect(try await sqlite.store.file("attachment.jpg", of: finished[3].result.media) != nil)
    }

    @Test func `The quota removes no files that a webhook or a queued job needs`() async throws {
        var limits = StoreLimits()
        limits.mediaQuotaBytes = 0
        let sqlite = try await SQLiteUnderTest(limits)
        let notified = try await sqlite.finishedJob(notice: .sample()).result
        let used = try await sqlite.finishedJob(key: "again").result
        _ = try await sqlite.driver.enqueue(.sample(key: "again"))
        sqlite.clock.advance(Self.day)
        let report = try await sqlite.store.sweep()
        #expect(report.results == 0 && report.isOverQuota)
        for result in [notified, used] {
            #expect(try await sqlite.store.file("attachment.jpg", of: result.media) != nil)
        }
    }

    @Test func `Jobs and uploads are rejected as long as the quota is exceeded`() async throws {
        var limits = StoreLimits()
        limits.mediaQuotaBytes = 50
        let sqlite = try await SQLiteUnderTest(limits)
        _ = try await sqlite.finishedJob()
        #expect(try await sqlite.store.sweep().isOverQuota)
        let rejectedJob = await #expect(throws: AttachPrepError.self) { try await sqlite.driver.enqueue(.sample()) }
        let rejectedUpload = await #expect(throws: AttachPrepError.self) { try await sqlite.store.beginUpload() }
        #expect(rejectedJob?.code == .outputNoSpace && rejectedUpload?.code == .outputNoSpace)
        sqlite.clock.advance(limits.mediaAgeSecondsMin)
        #expect(try await !sqlite.store.sweep().isOverQuota)
        _ = try await sqlite.driver.enqueue(.sample())
        await sqlite.store.discard(try await sqlite.store.beginUpload())
    }

    @Test func `A purge removes files immediately`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let job = try await sqlite.finishedJob().job
        _ = try await sqlite.finishedJob()
        #expect(try await sqlite.store.purge(JobFilter(ids: [job])) == 1)
        #expect(try sqlite.files("content").count == 2)
    }

    @Test func `Idempotency keys are removed after a day`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let key = IdempotencyKey(caller: "me", key: "one", bodyDigest: "aa")
        _ = try await sqlite.store.enqueue([.sample()], idempotency: key)
        #expect(try await sqlite.store.sweep().idempotencyKeys == 0)
        sqlite.clock.advance(Self.day + 1)
        #expect(try await sqlite.store.sweep().idempotencyKeys == 1)
    }

    @Test func `Files without a row are counted for a day, then removed`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let kept = try await sqlite.store(key: "key")
        let digest = String(repeating: "ab", count: 32)
        try sqlite.folder.makeFolder("state/content/ab")
        try sqlite.folder.write("left", to: "state/content/ab/\(digest)")
        try sqlite.folder.write("left", to: "state/uploads/\(MediaID.make())")
        let first = try await sqlite.store.sweepUnnamedFiles()
        #expect(first.files == 0 && first.unknownFiles == 2)
        sqlite.clock.advance(Self.day - 1)
        #expect(try await sqlite.store.sweepUnnamedFiles().unknownFiles == 2)
        sqlite.clock.advance(1)
        let last = try await sqlite.store.sweepUnnamedFiles()
        #expect(last.files == 2 && last.bytes == 8 && last.unknownFiles == 0)
        #expect(try sqlite.files("content").count == 2 && sqlite.files("uploads").isEmpty)
        #expect(try await sqlite.store.file("attachment.jpg", of: kept.media) != nil)
    }

    @Test func `An emptied database removes no files, and its restored copy finds all of them`() async throws {
        let sqlite = try await SQLiteUnderTest()
        var media: [MediaID] = []
        for number in 0..<3 { media.append(try await sqlite.store("\(number)", key: "\(number)").media) }
        await sqlite.store.close()
        let path = "\(sqlite.folder.path)/state/jobs.sqlite"
        let copy = try Data(contentsOf: URL(filePath: path))
        try Data().write(to: URL(filePath: path))
        let emptied = try await SQLiteUnderTest(folder: sqlite.folder, clock: sqlite.clock)
        let report = try await emptied.store.sweepUnnamedFiles()
        #expect(report.files == 0 && report.unknownFiles == 6)
        await emptied.store.close()
        try copy.write(to: URL(filePath: path))
        let restored = try await SQLiteUnderTest(folder: sqlite.folder, clock: sqlite.clock)
        #expect(try await restored.store.sweepUnnamedFiles().unknownFiles == 0)
        for (number, media) in media.enumerated() {
            let file = try #require(try await restored.store.file("attachment.jpg", of: media), "\(number)")
            #expect(FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test func `Files that are being stored are not removed by concurrent sweeps`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { _ = try await sqlite.store("content \(number % 3)", key: "\(number)") }
                group.addTask {
                    _ = try await sqlite.store.sweepUnnamedFiles()
                    _ = try await sqlite.store.sweep()
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<40 { #expect(try await sqlite.store.result(for: WorkKey("\(number)")) != nil) }
        #expect(try sqlite.files("content").count == 6)
    }

    @Test func `A thousand jobs are removed in small steps`() async throws {
        let sqlite = try await SQLiteUnderTest()
        _ = try await sqlite.store.enqueue((0..<1_100).map { _ in .sample() }, idempotency: nil)
        for claimed in try await sqlite.driver.claim(1_100, hostLimit: 2_000) {
            _ = try await sqlite.store.finish(claimed.lease, .failed(.rejected(.mediaCorrupt)), notice: nil)
        }
        sqlite.clock.advance(Limits.retentionSeconds + 1)
        #expect(try await sqlite.store.sweep().jobs == 1_100)
    }
}
