import Foundation
import Synchronization
import TestSupport

/// A batch of broken files through the real command and its children, and what became of them.
struct MutationRun: Sendable {
    /// Seconds a file may take.
    static let budget = 10

    let bench: CommandBench
    let mutator: MediaMutator
    /// The binaries to run; nil is this build's.
    let binaries: String?

    /// What became of the files, added up over batches.
    struct Outcome: Sendable {
        /// How often each outcome or error code came.
        var counts: [String: Int] = [:]
        /// What must not happen, one line each.
        var faults: [String] = []
        /// Seconds by name.
        var seconds: [String: Double] = [:]
        /// The most a child ever held, in KB.
        var childPeak = 0
        /// The same of the command.
        var parentPeak = 0

        mutating func count(_ word: String) { counts[word, default: 0] += 1 }
    }

    /// Writes the files, runs them, looks at what came back, and removes it all.
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
        if ![0, 1].contains(result.exitCode) { outcome.faults.append("the command ended with \(result.exitCode)") }
        let manifests = try result.lines.map(PrintedManifest.init(line:))
        let missing = Set(indices.map { "m-\($0)" }).subtracting(manifests.map(\.id))
        outcome.faults += missing.sorted().map { "\($0) has no manifest" }
        for manifest in manifests { try await judge(manifest, in: folder, into: &outcome) }
        let left = try bench.leftovers().filter { name in
            name.contains(".attachprep-") || name.hasSuffix(".new") || name.hasPrefix("tmp/")
        }
        outcome.faults += left.map { "\($0) was left" }
        try? FileManager.default.removeItem(atPath: bench.output)
    }

    /// Each wants another thing, so that every way through the child is taken.
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
        let words = bench.words("batch", ["--concurrency", "4", list])
        var command = try bench.command(words, timeoutSeconds: 3_000)
        if let binaries {
            command.program = "\(binaries)/attachprep"
        }
        let running = try command.start()
        let parent = ProcessFacts(processID: running.processID)
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

    /// Refusals that a broken file may meet.
    private static let honest: Set<String> = [
        "media.empty", "media.unrecognized", "media.unsupported", "media.corrupt", "media.encrypted",
        "media.too_many_pixels", "media.too_many_frames", "media.too_long", "limit.exceeded",
    ]

    private func judge(_ manifest: PrintedManifest, in sources: TemporaryFolder, into outcome: inout Outcome)
        async throws
    {
        let index = Int(manifest.id.dropFirst(2)) ?? 0
        let name = "\(index)-\(mutator.seeds[index % mutator.seeds.count].name)"
        let word = manifest.error?.code ?? manifest.outcome
        outcome.count(word)
        let seconds = (manifest.timings["total"] ?? 0) / 1_000
        outcome.seconds[name] = seconds
        if let error = manifest.error, !Self.honest.contains(error.code) {
            outcome.faults.append("\(name): \(error.code) after \(seconds) s: \(error.message)")
            try keep(name, from: sources)
        }
        guard manifest.error == nil else { return }
        if manifest.warningCodes.contains("deadline.degraded") { outcome.count("deadline.degraded") }
        for complaint in try await complaints(manifest, everything: index % 8 == 0) {
            outcome.faults.append("\(name): \(word): \(complaint)")
            try keep(name, from: sources)
        }
    }

    /// What other programs say of what was delivered; nothing, if all is well.
    private func complaints(_ manifest: PrintedManifest, everything: Bool) async throws -> [String] {
        let files = [manifest.attachment?.file, manifest.thumbnail?.file, manifest.crop?.file].compactMap { $0 }
        let missing = files.filter { !FileManager.default.fileExists(atPath: bench.path(manifest, $0)) }
        guard missing.isEmpty, everything else { return missing.map { "\($0) is not there" } }
        var complaints: [String] = []
        for file in files {
            let isAttachment = file == manifest.attachment?.file
            let isMedia = isAttachment && manifest.attachment?.kind != "image"
            let path = bench.path(manifest, file)
            let words =
                isMedia
                ? ["ffmpeg", "-v", "error", "-nostdin", "-i", path]
                    + (manifest.attachment?.kind == "audio" ? ["-map", "0:a"] : []) + ["-f", "null", "-"]
                : ["vips", "avg", path]
            let result = try await RunCommand(words[0], Array(words.dropFirst()), timeoutSeconds: 60).run()
            // What was passed or copied keeps the small faults it came with; pictures that we made have none.
            let isMade = !isAttachment || (!isMedia && manifest.outcome == "converted")
            if result.exitCode != 0 || (isMade && !result.errorText.isEmpty) {
                complaints.append("\(file): \(result.errorText.prefix(200))")
            }
        }
        return complaints
    }

    /// A file that did harm is kept for who looks into it.
    private func keep(_ name: String, from sources: TemporaryFolder) throws {
        guard let folder = ProcessInfo.processInfo.environment["ATTACHPREP_MUTATIONS_KEEP"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try? FileManager.default.copyItem(atPath: sources.path(name), toPath: "\(folder)/\(name)")
    }
}
