import Foundation
import Logging
import MediaEngine
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep

/// What a source is called when another body comes in the place of the one that was looked at (issue 18).
struct SourceIdentificationTests {
    /// Calls what begins with "a" a JPEG, and all else a PNG.
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

    @Test func `Content that may be in quarantine does not keep the name of a body before it`() async throws {
        let folder = try TemporaryFolder()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.stateFolder = folder.path("state")
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

        // The next body, of which others ended a decoder that began so.
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data(repeating: UInt8(ascii: "b"), count: 5_000))
        let prefix = try #require(PrefixDigest.digest(of: descriptor, length: Limits.identifyBytesFirst))
        let crash = AttachPrepError(.mediaDecoderCrashed, "Crashed.", detail: "signal 11")
        let other = QuarantineEntry(digest: String(repeating: "c", count: 64), subject: .content, prefixes: [prefix])
        for _ in 0..<2 { _ = dependencies.quarantine.record(crash, other, source: "https://cdn.example/b") }
        #expect(try await identification.attempt(availableBytes: 5_000, isComplete: false) == nil)
        let digest = String(repeating: "d", count: 64)
        #expect(try await identification.finish(bytes: 5_000, sha256: digest).format == .png)
        await dependencies.downloader.shutdown()
    }
}
