import Foundation
import Logging
import MediaEngine
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

struct SourceLocationTests {
    @Test(arguments: ["http://a/b", "https://a", "HTTPS://A/ä b"])
    func `An http or https URL is remote`(source: String) throws {
        #expect(try SourceLocation(source, allowsFiles: false) == .remote(source))
    }

    @Test(arguments: [
        ("cat.jpg", "cat.jpg"), ("/a/b c.png", "/a/b c.png"), ("file:///a/b%20c.png", "/a/b c.png"),
        ("file://localhost/a", "/a"), ("file:/a", "/a"), ("12:30.png", "12:30.png"), ("./a:b", "./a:b"),
    ])
    func `On the command line a path or a file URL is a file`(source: String, path: String) throws {
        #expect(try SourceLocation(source, allowsFiles: true) == .file(path))
    }

    @Test(arguments: ["ftp://a/b", "gopher://a", "data:image/png;base64,AAAA", "javascript:1"])
    func `Other schemes are rejected`(source: String) {
        let error = #expect(throws: AttachPrepError.self) { try SourceLocation(source, allowsFiles: true) }
        #expect(error?.code == .sourceSchemeNotAllowed)
    }

    @Test(arguments: ["cat.jpg", "/etc/passwd", ""]) func `Elsewhere a path is rejected`(source: String) {
        let error = #expect(throws: AttachPrepError.self) { try SourceLocation(source, allowsFiles: false) }
        #expect(error?.code == .sourceInvalidURL)
    }

    @Test func `Elsewhere a file URL is rejected`() {
        let error = #expect(throws: AttachPrepError.self) {
            try SourceLocation("file:///etc/passwd", allowsFiles: false)
        }
        #expect(error?.code == .sourceSchemeNotAllowed)
    }

    @Test(arguments: ["file://server/a", "file://", "file:///a%00b", "file:///a%zz"])
    func `An invalid or remote file URL is rejected`(source: String) {
        let error = #expect(throws: AttachPrepError.self) { try SourceLocation(source, allowsFiles: true) }
        #expect(error?.code == .sourceInvalidURL)
    }
}

/// The format of a source when a retry replaces the body that was identified (issue 18).
struct SourceIdentificationTests {
    /// Identifies a file that begins with "a" as JPEG, any other as PNG.
    private struct FirstLetterEngine: MediaEngine {
        func perform(
            _ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant
        ) async throws -> MediaAnswer {
            var letter: UInt8 = 0
            _ = pread(descriptors[0], &letter, 1, 0)
            return .identified(
                IdentifiedMedia(format: letter == UInt8(ascii: "a") ? .jpeg : .png, magicMIMEType: ""))
        }
    }

    @Test func `A retried body that may be quarantined is identified again`() async throws {
        let folder = try TemporaryFolder()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.dataFolder = folder.path("state")
        let dependencies = try PipelineDependencies(
            engine: FirstLetterEngine(), configuration: configuration, logger: logger)
        let file = folder.url.appending(path: "source")
        try Data(repeating: UInt8(ascii: "a"), count: 5_000).write(to: file)
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        let identification = SourceIdentification(
            source: "https://cdn.example/a", dependencies: dependencies, descriptor: descriptor,
            deadline: .now + .seconds(60))
        #expect(try await identification.attempt(availableBytes: 5_000, isComplete: false) == .jpeg)

        // The next body has the same prefix as content that crashed a decoder.
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data(repeating: UInt8(ascii: "b"), count: 5_000))
        let prefix = try #require(PrefixDigest.digest(of: descriptor, length: Limits.identifyBytesFirst))
        let crash = AttachPrepError(.mediaDecoderCrashed, "Crashed.", detail: "signal 11")
        let other = QuarantineEntry(digest: String(repeating: "c", count: 64), subject: .content, prefixes: [prefix])
        for _ in 0..<2 { _ = dependencies.quarantine.record(crash, subject: other, source: "https://cdn.example/b") }
        #expect(try await identification.attempt(availableBytes: 5_000, isComplete: false) == nil)
        let digest = String(repeating: "d", count: 64)
        #expect(try await identification.finish(bytes: 5_000, sha256: digest).format == .png)
        await dependencies.downloader.shutdown()
    }
}
