import AttachPrep
import AttachPrepModel
import Foundation
import Glibc
import MediaEngine
import MediaTypes
import Synchronization
import TestSupport
import Testing

/// Thousands of corrupt stills through the media process: no verdict depends on the size of a thumbnail, and no JPEG
/// is accepted for which libjpeg-turbo's own program has to invent data (issue 18).
///
/// `ATTACHPREP_CORRUPT_STILLS` is how many (120; 20,000 in the long tests), `ATTACHPREP_CORRUPT_STILLS_SEEDS` a folder
/// of files to break beside those generated here, `ATTACHPREP_CORRUPT_STILLS_REPORT` a file for the counts,
/// `ATTACHPREP_CORRUPT_STILLS_KEEP` a folder for the files with a wrong verdict. The same seeds and index break the
/// same way.
@Suite(.timeLimit(.minutes(60))) struct CorruptStillTests {
    private static func setting(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["ATTACHPREP_CORRUPT_STILLS\(name)"]
    }

    private static let isLong = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] == "1"
    private static let count = setting("").flatMap { Int($0) } ?? (isLong ? 20_000 : 120)
    private static let seedBytesMax = 300_000

    /// Verdicts and mismatches so far.
    private final class Progress: Sendable {
        private let state = Mutex<(next: Int, counts: [String: Int], mismatches: [String])>((0, [:], []))

        /// The next file to break; nil after the last.
        func next(of count: Int) -> Int? {
            state.withLock { state in
                state.next += 1
                return state.next <= count ? state.next - 1 : nil
            }
        }

        func record(_ verdict: String, _ mismatch: String?) {
            state.withLock { state in
                state.counts[verdict, default: 0] += 1
                if let mismatch { state.mismatches.append(mismatch) }
            }
        }

        var counts: [String: Int] { state.withLock { $0.counts } }
        var mismatches: [String] { state.withLock { $0.mismatches } }
    }

    @Test func `A corrupt still has one verdict at every size, and libjpeg-turbo agrees with it`() async throws {
        let mutator = MediaMutator(seeds: try Self.seeds(), seed: 18)
        let pool = try MediaProcessPool(executable: BuiltBinary.attachprepMedia(), mediaSlots: 2)
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await Self.work(mutator, pool, progress) } }
            try await group.waitForAll()
        }
        await pool.shutdown()
        let lines = progress.counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } + progress.mismatches
        if let path = Self.setting("_REPORT") {
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        }
        #expect(progress.mismatches == [])
        #expect(progress.counts.contains { $0.key.hasSuffix("passed") })
    }

    private static func work(_ mutator: MediaMutator, _ pool: MediaProcessPool, _ progress: Progress) async throws {
        while let index = progress.next(of: count) {
            let (name, bytes) = mutator.slightlyBrokenFile(index)
            let (verdict, mismatch) = try await judge(bytes, by: pool)
            progress.record(
                "\(name.split(separator: ".").last ?? "") \(verdict)", mismatch.map { "\(index) \(name): \($0)" })
            if mismatch != nil { keep("\(index)-\(name)", bytes) }
        }
    }

    private static func keep(_ name: String, _ bytes: [UInt8]) {
        guard let folder = setting("_KEEP") else { return }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try? Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }

    // MARK: Seeds

    private static func seeds() throws -> [(name: String, bytes: [UInt8])] {
        let kinds: [(String, [String])] = [
            ("baseline.jpg", ["-quality", "80"]), ("progressive.jpg", ["-interlace", "JPEG"]),
            ("gray.jpg", ["-colorspace", "Gray"]), ("restart.jpg", ["-define", "jpeg:restart-interval=4"]),
            ("whole.jpg", ["-sampling-factor", "4:4:4"]), ("cmyk.jpg", ["-colorspace", "CMYK"]),
            ("palette.png", ["-type", "Palette"]), ("interlaced.png", ["-interlace", "PNG"]),
            ("deep.png", ["-define", "png:format=png48"]), ("interlaced.gif", ["-interlace", "GIF"]),
            ("plain.jpg", ["-quality", "60", "-resize", "700x"]), ("plain.png", ["-resize", "200x"]),
        ]
        let made = try kinds.map { name, arguments in
            let file = GeneratedMedia.folder.appendingPathComponent("corrupt-\(name)")
            try GeneratedMedia.run(
                "convert", [SourceTree.sample("grid.png"), "-resize", "330x330"] + arguments + [file.path])
            return file
        }
        guard let folder = setting("_SEEDS") else { return try made.map(seed) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map {
            URL(filePath: "\(folder)/\($0)")
        }
        return try (made + files).map(seed).filter { $0.bytes.count <= seedBytesMax }
    }

    private static func seed(_ file: URL) throws -> (name: String, bytes: [UInt8]) {
        (file.lastPathComponent, [UInt8](try Data(contentsOf: file)))
    }

    // MARK: Verdicts

    /// Codes with which a corrupt file may be rejected.
    private static let rejectionCodes: Set<ErrorCode> = [
        .mediaEmpty, .mediaUnrecognized, .mediaUnsupported, .mediaCorrupt, .mediaEncrypted, .mediaTooManyPixels,
        .mediaTooManyFrames, .mediaTooLong,
    ]

    private static func judge(_ bytes: [UInt8], by pool: MediaProcessPool) async throws -> (String, mismatch: String?) {
        let file = try GeneratedMedia.file("corrupt", bytes: bytes)
        defer { unlink(file.path) }
        let source = open(file.path, O_RDONLY | O_CLOEXEC)
        defer { close(source) }
        // As in the pipeline, at most this many bytes are examined.
        let available = min(bytes.count, Limits.identifyBytesLast)
        let request = IdentifyRequest(availableBytes: available, isComplete: available == bytes.count)
        let deadline = ContinuousClock.now + .seconds(30)
        let format: MediaFormat
        do {
            guard let known = try await pool.identify(request, source: source, deadline: deadline).format else {
                return ("unknown format", nil)
            }
            format = known
        } catch let error as AttachPrepError {
            return (error.code.rawValue, rejectionCodes.contains(error.code) ? nil : "\(error)")
        }
        guard [.jpeg, .png, .gif].contains(format) else { return ("another format", nil) }
        let small = await verdict(format, source, side: 300, by: pool)
        let large = await verdict(format, source, side: 2_000, by: pool)
        if small != large { return (small, "\(small) at 300, \(large) at 2,000") }
        if let code = ErrorCode(rawValue: small), !rejectionCodes.contains(code) { return (small, small) }
        guard small == "passed", format == .jpeg else { return (small, nil) }
        let warning = try await djpegWarning(file.path)
        return (small, warning.map { "passed, but djpeg warns: \($0)" })
    }

    private static func verdict(_ format: MediaFormat, _ source: CInt, side: Int, by pool: MediaProcessPool) async
        -> String
    {
        let path = GeneratedMedia.folder.appendingPathComponent(UUID().uuidString).path
        let output = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        unlink(path)
        defer { close(output) }
        let deadline = ContinuousClock.now + .seconds(30)
        do {
            let media = try await pool.inspect(
                InspectRequest(format: format, decodesStills: false), source: source, deadline: deadline)
            var request = RenderRequest(format: format, frameSelection: media.isAnimated ? .animationFrame(0) : .still)
            request.thumbnail = ThumbnailRendition(width: side, height: side, fit: .contain)
            _ = try await pool.render(request, source: source, outputs: [output], deadline: deadline)
            return "passed"
        } catch { return (error as? AttachPrepError)?.code.rawValue ?? "\(error)" }
    }

    private static let inventedDataWarnings = [
        "bad Huffman code", "bad arithmetic code", "premature end", "Premature end", "instead of RST",
        "Inconsistent progression",
    ]

    /// The first warning of libjpeg-turbo's own program about invented data, or its error.
    private static func djpegWarning(_ path: String) async throws -> String? {
        let arguments = ["-verbose", "-verbose", "-verbose", "-scale", "1/8", "-outfile", "/dev/null", path]
        let result = try await RunCommand("djpeg", arguments, timeoutSeconds: 60).run()
        // CMYK does not fit its output; exit code 2 means that it continued after a warning.
        let isError = ![0, 2].contains(result.exitCode) && !result.errorText.contains("must be grayscale or RGB")
        return result.errorText.split(separator: "\n").map(String.init).first { line in
            inventedDataWarnings.contains { line.contains($0) }
        } ?? (isError ? String(result.errorText.suffix(200)) : nil)
    }
}
