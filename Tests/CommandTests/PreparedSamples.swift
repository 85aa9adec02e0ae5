import Foundation
import TestSupport

/// All samples, prepared over http by one run of the command, for all tests that check the results.
struct PreparedSamples: Sendable {
    let bench: CommandBench
    let exitCode: Int32
    private let manifests: [String: PrintedManifest]

    /// The only run, started by the first test that needs it.
    static let run = Task { try await PreparedSamples() }

    private init() async throws {
        bench = try CommandBench()
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
        let sources = try names.map(CommandBench.url)
        let result = try await bench.command(bench.arguments("prepare", sources)).run()
        exitCode = result.exitCode
        let printed = try result.lines.map(PrintedManifest.init(line:))
        // Results come in the order of the sources.
        manifests = Dictionary(uniqueKeysWithValues: zip(names, printed))
        Self.removeAtExit(bench.folder)
    }

    /// The manifest of a sample.
    static func manifest(_ sample: String) async throws -> PrintedManifest {
        guard let manifest = try await run.value.manifests[sample] else {
            throw TestError(description: "nothing was printed for \(sample)")
        }
        return manifest
    }

    static var bench: CommandBench { get async throws { try await run.value.bench } }

    /// Removes the folder at exit, because a static value is never deinitialized.
    private static func removeAtExit(_ folder: TemporaryFolder) {
        removed.value = folder.path
        atexit { try? FileManager.default.removeItem(atPath: PreparedSamples.removed.value) }
    }

    private static let removed = RemovedPath()

    /// Written once, before the process ends.
    private final class RemovedPath: @unchecked Sendable {
        var value = ""
    }
}
