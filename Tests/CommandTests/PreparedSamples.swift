import Foundation
import TestSupport

/// All samples, prepared once over http by one run of the command, for the tests that look at the results.
struct PreparedSamples: Sendable {
    let bench: CommandBench
    let exitCode: Int32
    private let manifests: [String: PrintedManifest]

    /// The one run, begun when the first test asks for it.
    static let run = Task { try await PreparedSamples() }

    private init() async throws {
        bench = try CommandBench()
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
        let sources = try names.map(CommandBench.url)
        let result = try await bench.command(bench.words("prepare", sources)).run()
        exitCode = result.exitCode
        let printed = try result.lines.map(PrintedManifest.init(line:))
        // Results come in the order of the sources.
        manifests = Dictionary(uniqueKeysWithValues: zip(names, printed))
        Self.removeAtExit(bench.folder)
    }

    /// The manifest of a sample.
    static func manifest(_ sample: String) async throws -> PrintedManifest {
        guard let manifest = try await run.value.manifests[sample] else {
            throw FactMissing(description: "nothing was printed for \(sample)")
        }
        return manifest
    }

    static var bench: CommandBench { get async throws { try await run.value.bench } }

    /// A static value lives as long as the process, and its folder would outlive it.
    private static func removeAtExit(_ folder: TemporaryFolder) {
        kept.value = folder.path
        atexit { try? FileManager.default.removeItem(atPath: PreparedSamples.kept.value) }
    }

    private static let kept = KeptPath()

    /// Written once, before the process ends.
    private final class KeptPath: @unchecked Sendable {
        var value = ""
    }
}
