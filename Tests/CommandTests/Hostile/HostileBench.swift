import Foundation
import Synchronization
import TestSupport
import Testing

/// Runs hostile files through the real command and its children, and looks at what they could have done.
struct HostileBench: Sendable {
    /// The most that a child may hold for any of them, in KB; a usual one holds 60 to 130 MB.
    private static let memoryMax = 700_000
    /// Seconds a file may take; none of them needs a third of it.
    private static let budget = 20

    let bench: CommandBench
    let traps: HostileTraps

    init() throws {
        bench = try CommandBench()
        traps = try HostileTraps(in: bench.folder)
    }

    /// Prepares all files, and expects of each one of its endings.
    ///
    /// - Returns: The manifests by the files' names.
    @discardableResult
    func run(
        _ files: [HostileFile], rendition: String = "original", memoryMax: Int = memoryMax,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String: PrintedManifest] {
        try bench.folder.makeFolder("hostile")
        let lines = try files.enumerated().map { index, file in
            let path = try bench.folder.write(file.bytes(traps), to: "hostile/\(file.name)")
            let options = #"{"crop": {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}, "thumbnailTime": 0}"#
            return """
                {"source": "\(path)", "id": "h-\(index)", "budget": \(Self.budget), "rendition": "\(rendition)", \
                "options": \(options)}
                """
        }
        let list = try bench.folder.write(lines.joined(separator: "\n"), to: "list")
        let (result, peak) = try await run(bench.command(bench.words("batch", [list]), timeoutSeconds: 600))
        #expect(!traps.wereTouched(), sourceLocation: sourceLocation)
        #expect(peak < memoryMax, "KB of a child", sourceLocation: sourceLocation)
        let manifests = try result.lines.map(PrintedManifest.init(line:))
        var byName: [String: PrintedManifest] = [:]
        for manifest in manifests {
            guard let index = Int(manifest.id.dropFirst(2)) else { continue }
            let file = files[index]
            byName[file.name] = manifest
            let ending = manifest.error?.code ?? manifest.outcome
            let seconds = (manifest.timings["total"] ?? 0) / 1_000
            #expect(
                file.endings.contains(ending), "\(file.name): \(ending) after \(seconds) s, \(manifest.reasons)",
                sourceLocation: sourceLocation)
        }
        #expect(byName.count == files.count, "\(result.errorText)", sourceLocation: sourceLocation)
        let left = try bench.leftovers().filter { $0.hasPrefix("tmp/") || $0.contains(".attachprep-") }
        #expect(left == [], sourceLocation: sourceLocation)
        return byName
    }

    /// The command's result, and the most one of its children held, in KB.
    private func run(_ command: RunCommand) async throws -> (CommandResult, peak: Int) {
        let running = try command.start()
        let parent = ProcessFacts(processID: running.processID)
        let peak = Mutex(0)
        async let result = running.result()
        try await waitUntil("the batch ends", seconds: 600) {
            let held = parent.children.map(\.memoryPeak).max() ?? 0
            peak.withLock { $0 = max($0, held) }
            return !parent.isRunning
        }
        return (try await result, peak.withLock { $0 })
    }

    /// The files of a result, by what is in them.
    func delivered(_ manifest: PrintedManifest) throws -> [UInt8] {
        let file = try #require(manifest.attachment?.file)
        return [UInt8](try Data(contentsOf: URL(filePath: bench.path(manifest, file))))
    }
}
