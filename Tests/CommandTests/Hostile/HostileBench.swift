import Foundation
import Synchronization
import TestSupport
import Testing

/// Prepares hostile files with the real command and its media processes, and checks for harm.
struct HostileBench: Sendable {
    /// Maximum resident memory of a media process for any of them, in KB; 60 to 130 MB is usual.
    private static let memoryMax = 700_000
    /// Seconds per file; none of them needs a third of it.
    private static let budget = 20

    let bench: CommandBench
    let traps: HostileTraps

    init() throws {
        bench = try CommandBench()
        traps = try HostileTraps(in: bench.folder)
    }

    /// Prepares all files, and expects one of its allowed outcomes for each.
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
        let (result, peak) = try await run(bench.command(bench.arguments("batch", [list]), timeoutSeconds: 600))
        #expect(!traps.wereTouched(), sourceLocation: sourceLocation)
        #expect(peak < memoryMax, "KB of a media process", sourceLocation: sourceLocation)
        let manifests = try result.lines.map(PrintedManifest.init(line:))
        var byName: [String: PrintedManifest] = [:]
        for manifest in manifests {
            guard let index = Int(manifest.id.dropFirst(2)) else { continue }
            let file = files[index]
            byName[file.name] = manifest
            let outcome = manifest.error?.code ?? manifest.outcome
            let seconds = (manifest.timings["total"] ?? 0) / 1_000
            #expect(
                file.allowedOutcomes.contains(outcome),
                "\(file.name): \(outcome) after \(seconds) s, \(manifest.reasons)",
                sourceLocation: sourceLocation)
        }
        #expect(byName.count == files.count, "\(result.errorText)", sourceLocation: sourceLocation)
        let left = try bench.leftovers().filter { $0.hasPrefix("tmp/") || $0.contains(".attachprep-") }
        #expect(left == [], sourceLocation: sourceLocation)
        return byName
    }

    /// Runs a command, and returns its result and the peak memory of any of its media processes, in KB.
    private func run(_ command: RunCommand) async throws -> (CommandResult, peak: Int) {
        let running = try command.start()
        let parent = ProcessStatus(processID: running.processID)
        let peak = Mutex(0)
        async let result = running.result()
        try await waitUntil("the batch ends", seconds: 600) {
            let memory = parent.children.map(\.memoryPeak).max() ?? 0
            peak.withLock { $0 = max($0, memory) }
            return !parent.isRunning
        }
        return (try await result, peak.withLock { $0 })
    }

    /// The content of a result's attachment.
    func delivered(_ manifest: PrintedManifest) throws -> [UInt8] {
        let file = try #require(manifest.attachment?.file)
        return [UInt8](try Data(contentsOf: URL(filePath: bench.path(manifest, file))))
    }
}

/// A file made to cause harm, and its allowed outcomes.
struct HostileFile: Sendable {
    let name: String
    /// Error codes and outcomes.
    let allowedOutcomes: Set<String>
    private let content: @Sendable (HostileTraps) throws -> [UInt8]

    init(
        _ name: String, _ allowedOutcomes: Set<String>, _ content: @escaping @Sendable (HostileTraps) throws -> [UInt8]
    ) {
        self.name = name
        self.allowedOutcomes = allowedOutcomes
        self.content = content
    }

    init(_ name: String, _ outcome: String, _ content: @autoclosure @escaping @Sendable () -> [UInt8]) {
        self.init(name, [outcome]) { _ in content() }
    }

    func bytes(_ traps: HostileTraps) throws -> [UInt8] { try content(traps) }

    static let unrecognized: Set<String> = ["media.unrecognized"]
    static let rejected: Set<String> = ["media.unrecognized", "media.unsupported", "media.corrupt"]
    static let corrupt: Set<String> = ["media.corrupt"]
}

/// The targets of references in hostile files: a file and a server that detect every access.
final class HostileTraps: Sendable {
    /// The path of a text file.
    let file: String
    private let server: LoopbackServer
    private let watch: Int32

    init(in folder: TemporaryFolder) throws {
        // A playlist itself, so that a reader that opens it continues.
        file = try folder.write("#EXTM3U\n#EXTINF:1,\nsecret\n", to: "secret.txt")
        server = try LoopbackServer()
        watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard watch >= 0, inotify_add_watch(watch, file, UInt32(IN_OPEN | IN_ACCESS)) >= 0 else {
            throw TestError(description: "inotify: errno \(errno)")
        }
    }

    deinit { close(watch) }

    /// A URL that must not be requested.
    var address: String { server.url("/secret") }

    /// Whether the file was opened since the last call, or the URL was ever requested.
    func wereTouched() -> Bool {
        var events = [UInt8](repeating: 0, count: 4_096)
        return read(watch, &events, events.count) > 0 || !server.requests.isEmpty
    }
}
