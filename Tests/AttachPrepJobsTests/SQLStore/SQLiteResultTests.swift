import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@Suite struct SQLiteResultTests {
    @Test func `A result's files are stored by digest and served by name`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let files = try PreparedFiles(sqlite)
        let stored = try await sqlite.store.store(
            files.manifest, folder: files.folder, for: WorkKey("key"), freshness: nil, fetchedAt: sqlite.clock.now)
        let file = try #require(try await sqlite.store.file("attachment.jpg", of: stored.media))
        #expect(file.mimeType == "image/jpeg" && file.sha256 == files.manifest.attachment?.sha256)
        let data = try Data(contentsOf: URL(fileURLWithPath: file.path))
        #expect(data.count == file.bytes && PreparedFiles.digest(data) == file.sha256)
        #expect(try sqlite.files("content").count == 2)
        #expect(!FileManager.default.fileExists(atPath: files.folder))
        #expect(try await sqlite.store.file("other.jpg", of: stored.media) == nil)
        #expect(try await sqlite.store.file("attachment.jpg", of: .make()) == nil)
        #expect(try await sqlite.store.mediaBytes() == files.bytes)
    }

    @Test func `The same content is stored once`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let first = try await sqlite.store("same", key: "one")
        let bytes = try await sqlite.store.mediaBytes()
        let second = try await sqlite.store("same", key: "two")
        #expect(first.media != second.media)
        #expect(try await sqlite.store.mediaBytes() == bytes)
        let paths = [
            try await sqlite.store.file("attachment.jpg", of: first.media)?.path,
            try await sqlite.store.file("attachment.jpg", of: second.media)?.path,
        ]
        #expect(paths[0] != nil && paths[0] == paths[1])
    }

    @Test func `The latest result of a work key is found, with its freshness`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let key = WorkKey("key")
        #expect(try await sqlite.store.result(for: key) == nil)
        _ = try await sqlite.store("old", key: "key")
        sqlite.clock.advance(5)
        let until = sqlite.clock.now + 60
        let new = try await sqlite.store("new", key: "key", freshUntil: until)
        let found = try #require(try await sqlite.store.result(for: key))
        #expect(found.media == new.media && found.manifest == new.manifest)
        #expect(found.fetchedAt == sqlite.clock.now && found.freshness?.freshUntil == until)
    }

    @Test func `A rejection is a result without files`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let stored = try await sqlite.store.store(
            .rejected(.mediaCorrupt), folder: nil, for: WorkKey("key"), freshness: nil, fetchedAt: sqlite.clock.now)
        #expect(try await sqlite.store.result(for: WorkKey("key"))?.manifest == stored.manifest)
        #expect(try await sqlite.store.mediaBytes() == 0)
    }

    @Test func `A renewed result has the new fetch time and freshness`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let stored = try await sqlite.store(key: "key")
        sqlite.clock.advance(100)
        let validators = SourceValidators(entityTag: "\"a\"", lastModified: nil)
        let freshness = SourceFreshness(validators: validators, freshUntil: sqlite.clock.now + 9)
        try await sqlite.store.renew(stored.media, freshness, fetchedAt: sqlite.clock.now)
        let found = try #require(try await sqlite.store.result(for: WorkKey("key")))
        #expect(found.fetchedAt == sqlite.clock.now && found.freshness == freshness)
    }

    @Test func `A result with a missing file is not found`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let stored = try await sqlite.store(key: "key")
        let file = try #require(try await sqlite.store.file("attachment.jpg", of: stored.media))
        try FileManager.default.removeItem(atPath: file.path)
        #expect(try await sqlite.store.result(for: WorkKey("key")) == nil)
    }

    @Test func `A file that differs from its manifest is rejected`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let files = try PreparedFiles(sqlite)
        try Data("cut".utf8).write(to: URL(fileURLWithPath: "\(files.folder)/thumbnail.jpg"))
        let error = await #expect(throws: AttachPrepError.self) {
            try await sqlite.store.store(
                files.manifest, folder: files.folder, for: WorkKey("key"), freshness: nil,
                fetchedAt: sqlite.clock.now)
        }
        #expect(error?.code == .outputNotWritable)
        #expect(try await sqlite.store.result(for: WorkKey("key")) == nil)
    }

    @Test func `Files are stored with the durability that survives a power cut`() async throws {
        let sqlite = try await SQLiteUnderTest(durability: .always)
        let stored = try await sqlite.store(key: "key")
        #expect(try await sqlite.store.file("attachment.jpg", of: stored.media) != nil)
    }
}
