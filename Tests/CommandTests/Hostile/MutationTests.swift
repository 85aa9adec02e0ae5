import Foundation
import Synchronization
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
            ["media process \(outcome.mediaProcessPeak) KB, parent \(outcome.parentPeak) KB"] + counts
            + ["-- slowest"] + slowest + ["-- failures"] + outcome.failures
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
    }
}

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
        var mediaProcessPeak = 0
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
        (outcome.mediaProcessPeak, outcome.parentPeak) = (
            max(outcome.mediaProcessPeak, peaks.mediaProcess), max(outcome.parentPeak, peaks.parent)
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

    private func run(_ list: String) async throws -> (CommandResult, peaks: (mediaProcess: Int, parent: Int)) {
        let arguments = bench.arguments("batch", ["--concurrency", "4", list])
        var command = try bench.command(arguments, timeoutSeconds: 3_000)
        if let binaries {
            command.program = "\(binaries)/attachprep"
        }
        let running = try command.start()
        let parent = ProcessStatus(processID: running.processID)
        let peaks = Mutex((mediaProcess: 0, parent: 0))
        async let result = running.result()
        try await waitUntil("the batch ends", seconds: 3_000) {
            let mediaProcesses = parent.children
            peaks.withLock {
                $0.mediaProcess = max($0.mediaProcess, mediaProcesses.map(\.memoryPeak).max() ?? 0)
                $0.parent = max($0.parent, parent.memoryPeak)
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

/// Small files of every format, which a mutation run damages: the samples, and generated files of other formats.
enum MutationSeeds {
    static func all() throws -> [(name: String, bytes: [UInt8])] {
        let samples = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
            .filter { !["empty.png", "truncated.jpg", "tune.mid", "picture.jpg"].contains($0) }
        let files = samples.map { ($0, URL(filePath: SourceTree.sample($0))) }
        let made = try generated.map { ($0.name, try movie($0.name, $0.arguments)) } + stills()
        return try (files + made).map { (name: $0.0, bytes: [UInt8](try Data(contentsOf: $0.1))) }
    }

    /// One second, 96 x 64 pixels, with a tone.
    private static func movie(_ name: String, _ arguments: String) throws -> URL {
        let frames = "testsrc=s=96x64:r=12:d=1"
        return try GeneratedMedia.file(
            name,
            ["-f", "lavfi", "-i", frames, "-f", "lavfi", "-i", "sine=440:d=1:r=22050"]
                + arguments.split(separator: " ").map(String.init))
    }

    private static let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 6"

    private static let generated: [(name: String, arguments: String)] = [
        ("fragments.mp4", "\(h264) -c:a aac -movflags frag_keyframe+empty_moov"),
        ("front.mp4", "\(h264) -c:a ac3 -movflags +faststart"),
        ("hevc.mov", "-c:v libx265 -x265-params log-level=none"),
        ("prores.mov", "-c:v prores_ks -c:a pcm_s16le"), ("animation.mov", "-c:v qtrle -an"),
        ("motion.avi", "-c:v mjpeg -c:a pcm_s16le"), ("divx.avi", "-c:v msmpeg4 -c:a libmp3lame"),
        ("windows.wmv", "-c:v wmv2 -c:a wmav2"), ("flash.flv", "-c:v flv1 -c:a libmp3lame"),
        ("theora.ogv", "-c:v libtheora -c:a libvorbis"), ("vp8.webm", "-c:v libvpx -b:v 200k -c:a libopus"),
        ("vp9.mkv", "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime -b:v 200k -c:a flac"),
        ("av1.mp4", "-t 0.5 -c:v libaom-av1 -cpu-used 8 -an"), ("mpeg1.mpg", "-r 25 -c:v mpeg1video -c:a mp2"),
        ("camera.avi", "-t 0.08 -s 720x576 -r 25 -pix_fmt yuv420p -c:v dvvideo -an"),
        ("alac.m4a", "-vn -c:a alac"), ("dolby.ac3", "-vn -c:a ac3"), ("raw.aac", "-vn -c:a aac"),
        ("adpcm.wav", "-vn -c:a adpcm_ms"), ("sun.au", "-vn"), ("pack.wv", "-vn -c:a wavpack"),
        ("true.tta", "-vn -c:a tta"), ("wave.w64", "-vn"), ("speech.spx", "-vn -c:a libspeex -ar 16000"),
        ("bare.mp3", "-vn -c:a libmp3lame -write_xing 0 -id3v2_version 0"),
        ("latm.ts", "-vn -c:a aac -mpegts_flags latm"),
        ("quick.wav", "-vn -c:a adpcm_ima_wav"),
    ]

    private static func stills() throws -> [(String, URL)] {
        let kinds: [(name: String, arguments: [String])] = [
            ("progressive.jpg", ["-interlace", "JPEG"]), ("gray.jpg", ["-colorspace", "Gray"]),
            ("palette.png", ["-type", "Palette"]), ("interlaced.png", ["-interlace", "PNG"]),
            ("deep.png", ["-depth", "16"]), ("lossless.webp", ["-define", "webp:lossless=true"]),
            ("lzw.tiff", ["-compress", "LZW"]), ("zip.tiff", ["-compress", "Zip"]),
            ("jpeg.tiff", ["-compress", "JPEG"]),
            ("tiles.tiff", ["-define", "tiff:tile-geometry=64x64"]),
            ("fax.tiff", ["-monochrome", "-compress", "Group4"]),
            ("runs.bmp", ["-type", "Palette", "-compress", "RLE"]), ("interlaced.gif", ["-interlace", "GIF"]),
        ]
        return try kinds.map { kind in
            let file = GeneratedMedia.folder.appendingPathComponent("seed-\(kind.name)")
            try GeneratedMedia.run(
                "convert", [SourceTree.sample("grid.png"), "-resize", "120x120"] + kind.arguments + [file.path])
            return (kind.name, file)
        }
    }
}
