import Foundation
import Synchronization
import TestSupport

/// Prepares batches of damaged files with the real command and its media processes, and collects the outcomes.
struct MutationRun: Sendable {
    /// Seconds per file.
    static let budget = 10

    let bench: CommandBench
    let mutator: MediaMutator
    /// The folder of the binaries to run; nil for those of this build.
    let binaries: String?

    /// The outcomes of the files, accumulated over batches.
    struct Outcome: Sendable {
        /// The number of files by outcome or error code.
        var counts: [String: Int] = [:]
        /// Violated expectations, one line each.
        var failures: [String] = []
        /// Seconds by file name.
        var seconds: [String: Double] = [:]
        /// The peak resident memory of any media process, in KB.
        var childPeak = 0
        /// The peak resident memory of the command, in KB.
        var parentPeak = 0

        mutating func count(_ result: String) { counts[result, default: 0] += 1 }
    }

    /// Writes the files, prepares them, checks the results, and removes all of it.
    func batch(_ indices: Range<Int>, into outcome: inout Outcome) async throws {
        let folder = try TemporaryFolder()
        let lines = try indices.map { index in
            let (name, bytes) = mutator.file(index)
            let path = try folder.write(bytes, to: "\(index)-\(name)")
            return Self.request(index, path)
        }
        let list = try bench.folder.write(lines.joined(separator: "\n"), to: "list")
        let (result, peaks) = try await run(list)
        (outcome.childPeak, outcome.parentPeak) = (
            max(outcome.childPeak, peaks.child), max(outcome.parentPeak, peaks.parent)
        )
        if ![0, 1].contains(result.exitCode) { outcome.failures.append("the command ended with \(result.exitCode)") }
        let manifests = try result.lines.map(PrintedManifest.init(line:))
        let missing = Set(indices.map { "m-\($0)" }).subtracting(manifests.map(\.id))
        outcome.failures += missing.sorted().map { "\($0) has no manifest" }
        for manifest in manifests { try await check(manifest, in: folder, into: &outcome) }
        let left = try bench.leftovers().filter { name in
            name.contains(".attachprep-") || name.hasSuffix(".new") || name.hasPrefix("tmp/")
        }
        outcome.failures += left.map { "\($0) was left" }
        try? FileManager.default.removeItem(atPath: bench.output)
    }

    /// Options vary by index, so that all code paths of the media process run.
    private static func request(_ index: Int, _ path: String) -> String {
        let options = [
            "{}", #"{"crop": {"x": 0.25, "y": 0, "width": 0.5, "height": 1}}"#, #"{"crop": "smart:1:1"}"#,
            #"{"thumbnailTime": "auto"}"#, #"{"thumbnailFit": "cover", "animation": "mp4"}"#,
            #"{"animation": "still", "crop": "smart"}"#,
        ]
        let rendition = index % 5 == 0 ? "display" : "original"
        return """
            {"source": "\(path)", "id": "m-\(index)", "budget": \(budget), "rendition": "\(rendition)", \
            "options": \(options[index % options.count])}
            """
    }

    private func run(_ list: String) async throws -> (CommandResult, peaks: (child: Int, parent: Int)) {
        let arguments = bench.arguments("batch", ["--concurrency", "4", list])
        var command = try bench.command(arguments, timeoutSeconds: 3_000)
        if let binaries {
            command.program = "\(binaries)/attachprep"
        }
        let running = try command.start()
        let parent = ProcessStatus(processID: running.processID)
        let peaks = Mutex((child: 0, parent: 0))
        async let result = running.result()
        try await waitUntil("the batch ends", seconds: 3_000) {
            let children = parent.children
            peaks.withLock {
                $0 = (max($0.child, children.map(\.memoryPeak).max() ?? 0), max($0.parent, parent.memoryPeak))
            }
            return !parent.isRunning
        }
        return (try await result, peaks.withLock { $0 })
    }

    /// Error codes that a damaged file may have.
    private static let allowedCodes: Set<String> = [
        "media.empty", "media.unrecognized", "media.unsupported", "media.corrupt", "media.encrypted",
        "media.too_many_pixels", "media.too_many_frames", "media.too_long", "limit.exceeded",
    ]

    private func check(_ manifest: PrintedManifest, in sources: TemporaryFolder, into outcome: inout Outcome)
        async throws
    {
        let index = Int(manifest.id.dropFirst(2)) ?? 0
        let name = "\(index)-\(mutator.seeds[index % mutator.seeds.count].name)"
        let result = manifest.error?.code ?? manifest.outcome
        outcome.count(result)
        let seconds = (manifest.timings["total"] ?? 0) / 1_000
        outcome.seconds[name] = seconds
        if let error = manifest.error, !Self.allowedCodes.contains(error.code) {
            outcome.failures.append("\(name): \(error.code) after \(seconds) s: \(error.message)")
            try keep(name, from: sources)
        }
        guard manifest.error == nil else { return }
        if manifest.warningCodes.contains("deadline.degraded") { outcome.count("deadline.degraded") }
        for problem in try await problems(manifest, decoding: index % 8 == 0) {
            outcome.failures.append("\(name): \(result): \(problem)")
            try keep(name, from: sources)
        }
    }

    /// The problems that ffmpeg and vips find in the delivered files; empty if there are none.
    private func problems(_ manifest: PrintedManifest, decoding: Bool) async throws -> [String] {
        let files = [manifest.attachment?.file, manifest.thumbnail?.file, manifest.crop?.file].compactMap { $0 }
        let missing = files.filter { !FileManager.default.fileExists(atPath: bench.path(manifest, $0)) }
        guard missing.isEmpty, decoding else { return missing.map { "\($0) is not there" } }
        var problems: [String] = []
        for file in files {
            let isAttachment = file == manifest.attachment?.file
            let isMedia = isAttachment && manifest.attachment?.kind != "image"
            let path = bench.path(manifest, file)
            let arguments =
                isMedia
                ? ["ffmpeg", "-v", "error", "-nostdin", "-i", path]
                    + (manifest.attachment?.kind == "audio" ? ["-map", "0:a"] : []) + ["-f", "null", "-"]
                : ["vips", "avg", path]
            let result = try await RunCommand(arguments[0], Array(arguments.dropFirst()), timeoutSeconds: 60).run()
            // Unchanged and copied media keep the small errors of the source; encoded images have none.
            let isEncoded = !isAttachment || (!isMedia && manifest.outcome == "converted")
            if result.exitCode != 0 || (isEncoded && !result.errorText.isEmpty) {
                problems.append("\(file): \(result.errorText.prefix(200))")
            }
        }
        return problems
    }

    /// Keeps a file that failed, for debugging.
    private func keep(_ name: String, from sources: TemporaryFolder) throws {
        guard let folder = ProcessInfo.processInfo.environment["ATTACHPREP_MUTATIONS_KEEP"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try? FileManager.default.copyItem(atPath: sources.path(name), toPath: "\(folder)/\(name)")
    }
}
