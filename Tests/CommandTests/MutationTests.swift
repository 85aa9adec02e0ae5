import Foundation
import TestSupport
import Testing

/// Thousands of damaged files, prepared with real media processes.
///
/// `ATTACHPREP_MUTATIONS` is their number (300; 10,000 in the long tests), `ATTACHPREP_MUTATIONS_SEED` the seed of the
/// random numbers, `ATTACHPREP_MUTATIONS_BINARIES` a folder with other builds of both binaries,
/// `ATTACHPREP_MUTATIONS_KEEP` a folder for the files that failed, `ATTACHPREP_MUTATIONS_REPORT` a file for statistics.
/// A file is named after its index and the file that it was made from; the same seed and index reproduce it.
@Suite(.timeLimit(.minutes(60))) struct MutationTests {
    private static func setting(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["ATTACHPREP_MUTATIONS\(name)"]
    }

    private static let batchFiles = 250
    private static let count = setting("").flatMap { Int($0) } ?? (LongTests.areEnabled ? 10_000 : 300)
    private static let first = setting("_FIRST").flatMap { Int($0) } ?? 0
    private static let seed = setting("_SEED").flatMap { UInt64($0) } ?? 4

    @Test func `Damaged files end with an expected outcome, within their budget, and leave no files`() async throws {
        let mutator = MediaMutator(seeds: try MutationSeeds.all(), seed: Self.seed)
        let run = MutationRun(bench: try CommandBench(), mutator: mutator, binaries: Self.setting("_BINARIES"))
        var outcome = MutationRun.Outcome()
        for start in stride(from: Self.first, to: Self.first + Self.count, by: Self.batchFiles) {
            try await run.batch(start..<min(start + Self.batchFiles, Self.first + Self.count), into: &outcome)
            try report(outcome)
        }
        #expect(outcome.failures == [])
        #expect(outcome.counts.filter { ["passed", "converted"].contains($0.key) }.count == 2)
    }

    /// Files of earlier runs that revealed a bug; the small ones are kept in `Tests/Fixtures`.
    @Test func `Files that once caused a failure end with an expected outcome`() async throws {
        let folder = SourceTree.path("Tests/Fixtures/once-harmful")
        let allowed: Set<String> = ["passed", "converted", "shrunk", "media.corrupt"]
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            HostileFile(name, allowed) { _ in [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))) }
        }
        #expect(!files.isEmpty)
        try await HostileBench().run(files)
    }

    private func report(_ outcome: MutationRun.Outcome) throws {
        guard let path = Self.setting("_REPORT") else { return }
        let slowest = outcome.seconds.sorted { $0.value > $1.value }.prefix(20).map { "\($0.value) s \($0.key)" }
        let counts = outcome.counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let lines =
            ["child \(outcome.childPeak) KB, parent \(outcome.parentPeak) KB"] + counts + ["-- slowest"] + slowest
            + ["-- failures"] + outcome.failures
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
    }
}
