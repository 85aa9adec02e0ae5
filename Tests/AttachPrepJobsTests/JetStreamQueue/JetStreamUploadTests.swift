import AttachPrep
import Crypto
import Foundation
import NATS
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel
@testable import JetStreamQueue

@Suite(.timeLimit(.minutes(2))) struct JetStreamUploadTests {
    private static let bytes: [UInt8] = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }

    private let one: JetStreamUnderTest

    init() async throws {
        one = try await JetStreamUnderTest()
    }

    /// A second machine on the same server.
    private func another() async throws -> JetStreamUnderTest { try await JetStreamUnderTest(server: one.server) }

    private func sha256(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }

    private func begin(_ bytes: [UInt8]) async throws -> UploadInProgress {
        let begun = try await one.queue.beginUpload()
        try Data(bytes).write(to: URL(fileURLWithPath: begun.path))
        return begun
    }

    private func keep() async throws -> Upload {
        let begun = try await begin(Self.bytes)
        return try await one.queue.store(begun, bytes: Self.bytes.count, sha256: sha256(Self.bytes))
    }

    private func contents(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

    /// The names in a file's folder.
    private func names(beside path: String) throws -> [String] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    private func messageCount() async throws -> Int {
        let connection = try await NATSConnection.connect(NATSSettings(servers: [one.server.url]))
        return try await JetStream(connection).messageCount("OBJ_attachprep_uploads")
    }

    @Test func `An upload stored on one machine is read on another byte for byte`() async throws {
        let upload = try await keep()
        #expect(try await one.queue.upload(upload.id) == upload)
        #expect(try await one.queue.file(of: upload) == upload.path)
        #expect(contents(upload.path) == Self.bytes)
        let other = try await another()
        let found = try #require(try await other.queue.upload(upload.id))
        #expect(found.bytes == upload.bytes && found.sha256 == upload.sha256)
        #expect(found.createdAt == upload.createdAt && found.expiresAt == upload.expiresAt)
        let path = try await other.queue.file(of: found)
        #expect(path != upload.path && contents(path) == Self.bytes)
        #expect(try names(beside: path) == [upload.id.text])
    }

    @Test func `Concurrent requests for an upload all receive it`() async throws {
        let upload = try await keep()
        let other = try await another()
        let found = try #require(try await other.queue.upload(upload.id))
        async let first = other.queue.file(of: found)
        async let second = other.queue.file(of: found)
        let paths = try await [first, second]
        #expect(paths == [found.path, found.path] && contents(found.path) == Self.bytes)
    }

    @Test func `A missing or truncated copy is fetched again`() async throws {
        let upload = try await keep()
        try FileManager.default.removeItem(atPath: upload.path)
        #expect(try await contents(one.queue.file(of: upload)) == Self.bytes)
        try Data("cut".utf8).write(to: URL(fileURLWithPath: upload.path))
        #expect(try await contents(one.queue.file(of: upload)) == Self.bytes)
    }

    @Test func `A copy with another digest is not used`() async throws {
        let begun = try await begin(Self.bytes)
        let upload = try await one.queue.store(begun, bytes: Self.bytes.count, sha256: sha256([]))
        let other = try await another()
        let found = try #require(try await other.queue.upload(upload.id))
        let error = await #expect(throws: AttachPrepError.self) { try await other.queue.file(of: found) }
        #expect(error?.code == .queueUnavailable)
        #expect(try names(beside: found.path).isEmpty)
    }

    @Test func `An upload expires after a day`() async throws {
        let upload = try await keep()
        one.clock.advance(Limits.uploadSecondsMax - 1)
        #expect(try await one.queue.upload(upload.id) != nil)
        one.clock.advance(2)
        #expect(try await one.queue.upload(upload.id) == nil)
    }

    @Test func `An upload is kept as long as a job needs it`() async throws {
        let upload = try await keep()
        let job = try await one.driver.ended(
            .dead(.rejected(.internal)), .sample("\(Upload.scheme)\(upload.id)", host: nil))
        one.clock.advance(Limits.uploadSecondsMax + 1)
        #expect(try await one.queue.upload(upload.id) != nil)
        _ = try await one.queue.purge(JobFilter(ids: [job]))
        #expect(try await one.queue.upload(upload.id) == nil)
    }

    @Test func `A file of another length than announced is not stored`() async throws {
        let begun = try await begin(Array("sound".utf8))
        await #expect(throws: AttachPrepError.self) {
            try await one.queue.store(begun, bytes: 6, sha256: sha256([]))
        }
        #expect(try await one.queue.upload(begun.id) == nil)
        #expect(try await messageCount() == 0)
    }

    @Test func `A discarded upload leaves nothing`() async throws {
        let begun = try await begin(Self.bytes)
        await one.queue.discard(begun)
        #expect(try names(beside: begun.path).isEmpty)
        #expect(try await messageCount() == 0)
    }

    @Test func `An unknown upload is not found`() async throws {
        let upload = Upload(
            id: .make(), path: "", bytes: 1, sha256: sha256([]), createdAt: one.clock.now, expiresAt: one.clock.now)
        let error = await #expect(throws: AttachPrepError.self) { try await one.queue.file(of: upload) }
        #expect(error?.code == .sourceNotFound)
    }

    @Test func `An upload cannot be stored while the server is down`() async throws {
        let begun = try await begin(Self.bytes)
        one.server.kill()
        let error = await #expect(throws: AttachPrepError.self) {
            try await one.queue.store(begun, bytes: Self.bytes.count, sha256: sha256(Self.bytes))
        }
        #expect(error?.code == .queueUnavailable)
    }
}

@Suite struct UploadCacheTests {
    private static let start = Date(timeIntervalSince1970: 1_795_294_262)

    private let folder: TemporaryFolder
    private let uploads: UploadCache

    init() throws {
        folder = try TemporaryFolder()
        uploads = try UploadCache(path: folder.path)
    }

    /// An empty copy.
    private func copy() async throws -> MediaID {
        let begun = try await uploads.begin(.make())
        try await uploads.store(begun.path, as: begun.id, at: Self.start)
        return begun.id
    }

    @Test func `A copy is removed after an hour without use`() async throws {
        let id = try await copy()
        #expect(try await uploads.refreshCopy(id, bytes: 0, at: Self.start + 3_000))
        #expect(try await uploads.sweep(at: Self.start + 3_000 + Limits.uploadCopySecondsMax - 1).isEmpty)
        #expect(try await uploads.sweep(at: Self.start + 3_000 + Limits.uploadCopySecondsMax).map(\.name) == [id.text])
        #expect(try folder.contents() == ["uploads"])
    }

    @Test func `A file that is being written is not swept`() async throws {
        let begun = try await uploads.begin(.make())
        #expect(try await uploads.sweep(at: .distantFuture).isEmpty)
        #expect(FileManager.default.fileExists(atPath: begun.path))
    }

    @Test func `A copy of the wrong length is not used`() async throws {
        let id = try await copy()
        #expect(try await !uploads.refreshCopy(id, bytes: 1, at: Self.start))
    }

    @Test func `Files are accessible to their owner only`() async throws {
        let begun = try await uploads.begin(.make())
        for (path, rights) in [(folder.path("uploads"), 0o700), (begun.path, 0o600)] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == rights)
        }
    }

    @Test func `Files of an earlier process are removed at the next start`() async throws {
        _ = try await copy()
        _ = try await uploads.begin(.make())
        _ = try UploadCache(path: folder.path)
        #expect(try folder.contents() == ["uploads"])
    }
}
