import Foundation
import TestSupport
import Testing

/// Samples that cannot be shown are rejected, and the others of the same run are prepared.
@Suite(.timeLimit(.minutes(2))) struct RejectedSampleTests {
    @Test(arguments: [
        ("arrow.svg", "media.unsupported", 101), ("picture.jpg", "media.unrecognized", 101),
        ("truncated.jpg", "media.corrupt", 105), ("empty.png", "media.empty", 105),
    ])
    func `A rejected sample has its own error code and Apple's error number`(
        name: String, code: String, apple: Int
    ) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        try await PreparedSamples.bench.expect(manifest, rejectedAs: code)
        #expect(manifest.error?.appleCode == apple)
    }

    @Test func `A run with rejected sources exits with 1`() async throws {
        #expect(try await PreparedSamples.run.value.exitCode == 1)
    }

    @Test func `Only sources that are not rejected have a result folder`() async throws {
        let bench = try await PreparedSamples.bench
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media"))
        var ready: Set<String> = []
        for name in names {
            let manifest = try await PreparedSamples.manifest(name)
            if manifest.error == nil { ready.insert(manifest.id) }
        }
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: bench.output)) == ready)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path("tmp")) == [])
    }
}
