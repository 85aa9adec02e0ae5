import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@Suite struct SQLiteUploadTests {
    private func keep(_ sqlite: SQLiteUnderTest) async throws -> Upload {
        let begun = try await sqlite.store.beginUpload()
        try Data("sound".utf8).write(to: URL(fileURLWithPath: begun.path))
        return try await sqlite.store.store(begun, bytes: 5, sha256: "abc")
    }

    @Test func `An upload is kept for a day`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let upload = try await keep(sqlite)
        #expect(try await sqlite.store.upload(upload.id) == upload)
        #expect(FileManager.default.contents(atPath: upload.path) == Data("sound".utf8))
        #expect(try await sqlite.store.mediaBytes() == 5)
        sqlite.clock.advance(Limits.uploadSecondsMax + 1)
        #expect(try await sqlite.store.upload(upload.id) == nil)
        let report = try await sqlite.store.sweep()
        #expect(report.uploads == 1 && report.bytes == 5 && report.mediaBytes == 0)
        #expect(try sqlite.files("uploads").isEmpty)
    }

    @Test func `An upload is kept as long as a job needs it`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let upload = try await keep(sqlite)
        let job = try await sqlite.driver.ended(
            .dead(.rejected(.internal)), .sample("\(Upload.scheme)\(upload.id)", host: nil))
        sqlite.clock.advance(Limits.uploadSecondsMax + 1)
        #expect(try await sqlite.store.sweep().uploads == 0)
        #expect(try await sqlite.store.upload(upload.id) != nil)
        _ = try await sqlite.store.purge(JobFilter(ids: [job]))
        #expect(try await sqlite.store.sweep().uploads == 1)
    }

    // MARK: Shares

    @Test func `20 parallel uploads reserve their bytes before the first is stored`() async throws {
        var limits = StoreLimits()
        limits.mediaQuotaBytes = 100_000_000
        let sqlite = try await SQLiteUnderTest(limits)
        let begun = await withTaskGroup(of: UploadInProgress?.self) { group in
            for _ in 0..<20 { group.addTask { try? await sqlite.store.beginUpload(bytes: 60_000_000, by: nil) } }
            var begun: [UploadInProgress] = []
            for await upload in group { if let upload { begun.append(upload) } }
            return begun
        }
        #expect(begun.count == 1)
        for upload in begun { await sqlite.store.discard(upload) }
        _ = try await sqlite.store.beginUpload(bytes: 60_000_000, by: nil)
    }

    @Test func `An upload of unknown length reserves as it grows, and a stored one counts`() async throws {
        var limits = StoreLimits()
        limits.mediaQuotaBytes = 100
        let sqlite = try await SQLiteUnderTest(limits)
        _ = try await keep(sqlite)
        let growing = try await sqlite.store.beginUpload()
        try await sqlite.store.reserve(60, for: growing)
        try await sqlite.store.reserve(70, for: growing)
        let error = await #expect(throws: AttachPrepError.self) { try await sqlite.store.reserve(71, for: growing) }
        #expect(error?.code == .outputNoSpace && error?.message.contains("75") == true)
    }

    @Test func `Each token has a share of the uploads`() async throws {
        var limits = StoreLimits()
        limits.mediaQuotaBytes = 4_000_000_000
        limits.share(among: 2, concurrency: 32)
        let sqlite = try await SQLiteUnderTest(limits)
        _ = try await sqlite.store.beginUpload(bytes: 1_500_000_000, by: "a")
        let error = await #expect(throws: AttachPrepError.self) {
            try await sqlite.store.beginUpload(bytes: 1, by: "a")
        }
        #expect(error?.code == .outputNoSpace)
        _ = try await sqlite.store.beginUpload(bytes: 1_500_000_000, by: "b")
    }

    @Test func `A caller whose files fill the store does not refuse another's job`() async throws {
        var limits = StoreLimits()
        limits.mediaQuotaBytes = 50
        let sqlite = try await SQLiteUnderTest(limits)
        _ = try await sqlite.finishedJob()
        try await sqlite.store.alter("UPDATE finished_job SET owner = 'a'; UPDATE job SET owner = 'a'")
        #expect(try await sqlite.store.sweep().isOverQuota)
        var submission = JobSubmission.sample()
        submission.origin.caller = "a"
        let full = submission
        await #expect(throws: AttachPrepError.self) { try await sqlite.driver.enqueue(full) }
        submission.origin.caller = "b"
        _ = try await sqlite.driver.enqueue(submission)
        _ = try await sqlite.store.beginUpload(bytes: 5, by: "b")
    }

    @Test func `A discarded upload leaves nothing`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let begun = try await sqlite.store.beginUpload()
        await sqlite.store.discard(begun)
        #expect(try sqlite.files("uploads").isEmpty)
    }

    @Test func `A file of another length than announced is not stored`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let begun = try await sqlite.store.beginUpload()
        await #expect(throws: AttachPrepError.self) {
            try await sqlite.store.store(begun, bytes: 5, sha256: "abc")
        }
        #expect(try await sqlite.store.upload(begun.id) == nil)
    }

    @Test func `An unfinished upload is removed at the next start`() async throws {
        let folder = try TemporaryFolder()
        do {
            let sqlite = try await SQLiteUnderTest(folder: folder)
            _ = try await sqlite.store.beginUpload()
            #expect(try sqlite.files("uploads").count == 1)
            await sqlite.store.close()
        }
        let sqlite = try await SQLiteUnderTest(folder: folder)
        #expect(try sqlite.files("uploads").isEmpty)
    }
}
