import AttachPrep
import AttachPrepJobs
import Crypto
import Foundation
import NATS
import RichPush
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct JetStreamUploadTests {
    private static let bytes: [UInt8] = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }

    private let one: JetStreamUnderTest

    init() async throws {
        one = try await JetStreamUnderTest()
    }

    /// Another machine.
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
        return try await one.queue.keep(begun, bytes: Self.bytes.count, sha256: sha256(Self.bytes))
    }

    private func contents(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

    /// The names beside a file.
    private func names(beside path: String) throws -> [String] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    private func messageCount() async throws -> Int {
        let connection = try await NATSConnection.connect(NATSSettings(servers: [one.server.url]))
        return try await JetStream(connection).messageCount("OBJ_attachprep_uploads")
    }

    @Test func `an upload that is kept on one machine is there on another, byte by byte`() async throws {
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

    @Test func `all who ask for an upload at the same time get it`() async throws {
        let upload = try await keep()
        let other = try await another()
        let found = try #require(try await other.queue.upload(upload.id))
        async let first = other.queue.file(of: found)
        async let second = other.queue.file(of: found)
        let paths = try await [first, second]
        #expect(paths == [found.path, found.path] && contents(found.path) == Self.bytes)
    }

    @Test func `a copy that is gone or cut is brought anew`() async throws {
        let upload = try await keep()
        try FileManager.default.removeItem(atPath: upload.path)
        #expect(try await contents(one.queue.file(of: upload)) == Self.bytes)
        try Data("cut".utf8).write(to: URL(fileURLWithPath: upload.path))
        #expect(try await contents(one.queue.file(of: upload)) == Self.bytes)
    }

    @Test func `bytes that are not those that were sent are not used`() async throws {
        let begun = try await begin(Self.bytes)
        let upload = try await one.queue.keep(begun, bytes: Self.bytes.count, sha256: sha256([]))
        let other = try await another()
        let found = try #require(try await other.queue.upload(upload.id))
        let error = await #expect(throws: AttachPrepError.self) { try await other.queue.file(of: found) }
        #expect(error?.code == .queueUnavailable)
        #expect(try names(beside: found.path).isEmpty)
    }

    @Test func `an upload's time is over after a day`() async throws {
        let upload = try await keep()
        one.clock.advance(Limits.uploadSecondsMax - 1)
        #expect(try await one.queue.upload(upload.id) != nil)
        one.clock.advance(2)
        #expect(try await one.queue.upload(upload.id) == nil)
    }

    @Test func `an upload that a job needs stays until that job needs it no more`() async throws {
        let upload = try await keep()
        let job = try await one.driver.ended(
            .dead(.rejected(.internal)), .sample("\(Upload.scheme)\(upload.id)", host: nil))
        one.clock.advance(Limits.uploadSecondsMax + 1)
        #expect(try await one.queue.upload(upload.id) != nil)
        _ = try await one.queue.purge(JobFilter(ids: [job]))
        #expect(try await one.queue.upload(upload.id) == nil)
    }

    @Test func `a file that is not as long as was said is not kept`() async throws {
        let begun = try await begin(Array("sound".utf8))
        await #expect(throws: AttachPrepError.self) {
            try await one.queue.keep(begun, bytes: 6, sha256: sha256([]))
        }
        #expect(try await one.queue.upload(begun.id) == nil)
        #expect(try await messageCount() == 0)
    }

    @Test func `what was thrown away leaves nothing`() async throws {
        let begun = try await begin(Self.bytes)
        await one.queue.discard(begun)
        #expect(try names(beside: begun.path).isEmpty)
        #expect(try await messageCount() == 0)
    }

    @Test func `an upload that nobody has is not found`() async throws {
        let upload = Upload(
            id: .make(), path: "", bytes: 1, sha256: sha256([]), createdAt: one.clock.now, expiresAt: one.clock.now)
        let error = await #expect(throws: AttachPrepError.self) { try await one.queue.file(of: upload) }
        #expect(error?.code == .sourceNotFound)
    }

    @Test func `an upload cannot be kept while the servers are gone`() async throws {
        let begun = try await begin(Self.bytes)
        one.server.kill()
        let error = await #expect(throws: AttachPrepError.self) {
            try await one.queue.keep(begun, bytes: Self.bytes.count, sha256: sha256(Self.bytes))
        }
        #expect(error?.code == .queueUnavailable)
    }
}
