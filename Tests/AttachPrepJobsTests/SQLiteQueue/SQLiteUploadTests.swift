import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import RichPush
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
