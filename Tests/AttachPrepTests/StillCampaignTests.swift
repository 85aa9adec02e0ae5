import AttachPrep
import Foundation
import Glibc
import MediaEngine
import RichPush
import Synchronization
import TestSupport
import Testing

/// Thousands of broken stills through the media process: no verdict depends on the size of a thumbnail, and no JPEG
/// passes for which libjpeg-turbo's own program has to invent data (issue 18).
///
/// `ATTACHPREP_CAMPAIGN` is how many (120; 20,000 in the long tests), `ATTACHPREP_CAMPAIGN_SEEDS` a folder of files to
/// break beside those made here, `ATTACHPREP_CAMPAIGN_REPORT` a file for the figures, `ATTACHPREP_CAMPAIGN_KEEP` a
/// folder for the files that were judged wrongly. The same seeds and index break the same way.
@Suite(.timeLimit(.minutes(60))) struct StillCampaignTests {
    private static func setting(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["ATTACHPREP_CAMPAIGN\(name)"]
    }

    private static let isLong = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] == "1"
    private static let count = setting("").flatMap { Int($0) } ?? (isLong ? 20_000 : 120)
    private static let seedBytesMax = 300_000

    /// What became of the files so far.
    private final class Progress: Sendable {
        private let state = Mutex<(next: Int, counts: [String: Int], faults: [String])>((0, [:], []))

        /// The next file to break; nil after the last.
        func next(of count: Int) -> Int? {
            state.withLock { state in
                state.next += 1
                return state.next <= count ? state.next - 1 : nil
            }
        }

        func note(_ verdict: String, _ fault: String?) {
            state.withLock { state in
                state.counts[verdict, default: 0] += 1
                if let fault { state.faults.append(fault) }
            }
        }

        var counts: [String: Int] { state.withLock { $0.counts } }
        var faults: [String] { state.withLock { $0.faults } }
    }

    @Test func `A broken still has one verdict, and libjpeg-turbo agrees with it`() async throws {
        let mutator = MediaMutator(seeds: try Self.seeds(), seed: 18)
        let pool = try MediaProcessPool(executable: BuiltBinary.attachprepMedia(), mediaSlots: 2)
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await Self.work(mutator, pool, progress) } }
            try await group.waitForAll()
        }
        await pool.shutdown()
        let lines = progress.counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } + progress.faults
        if let path = Self.setting("_REPORT") {
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        }
        #expect(progress.faults == [])
        #expect(progress.counts.contains { $0.key.hasSuffix("passed") })
    }

    private static func work(_ mutator: MediaMutator, _ pool: MediaProcessPool, _ progress: Progress) async throws {
        while let index = progress.next(of: count) {
            let (name, bytes) = mutator.slightlyBrokenFile(index)
            let (verdict, fault) = try await judge(bytes, by: pool)
            progress.note(
                "\(name.split(separator: ".").last ?? "") \(verdict)", fault.map { "\(index) \(name): \($0)" })
            if fault != nil { keep("\(index)-\(name)", bytes) }
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
            ("grey.jpg", ["-colorspace", "Gray"]), ("restart.jpg", ["-define", "jpeg:restart-interval=4"]),
            ("whole.jpg", ["-sampling-factor", "4:4:4"]), ("cmyk.jpg", ["-colorspace", "CMYK"]),
            ("palette.png", ["-type", "Palette"]), ("interlaced.png", ["-interlace", "PNG"]),
            ("deep.png", ["-define", "png:format=png48"]), ("interlaced.gif", ["-interlace", "GIF"]),
            ("plain.jpg", ["-quality", "60", "-resize", "700x"]), ("plain.png", ["-resize", "200x"]),
        ]
        let made = try kinds.map { name, arguments in
            let file = GeneratedMedia.folder.appendingPathComponent("campaign-\(name)")
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

    /// Refusals that a broken file may meet.
    private static let honest: Set<ErrorCode> = [
        .mediaEmpty, .mediaUnrecognized, .mediaUnsupported, .mediaCorrupt, .mediaEncrypted, .mediaTooManyPixels,
        .mediaTooManyFrames, .mediaTooLong,
    ]

    private static func judge(_ bytes: [UInt8], by pool: MediaProcessPool) async throws -> (String, fault: String?) {
        let file = try GeneratedMedia.file("campaign", bytes: bytes)
        defer { unlink(file.path) }
        let source = open(file.path, O_RDONLY | O_CLOEXEC)
        defer { close(source) }
        // As the pipeline asks: no more than these are looked at.
        let looked = min(bytes.count, Limits.identifyBytesLast)
        let request = IdentifyRequest(availableBytes: looked, isComplete: looked == bytes.count)
        let deadline = ContinuousClock.now + .seconds(30)
        let format: MediaFormat
        do {
            guard let known = try await pool.identify(request, source: source, deadline: deadline).format else {
                return ("unknown format", nil)
            }
            format = known
        } catch let error as AttachPrepError {
            return (error.code.rawValue, honest.contains(error.code) ? nil : "\(error)")
        }
        guard [.jpeg, .png, .gif].contains(format) else { return ("another format", nil) }
        let small = await verdict(format, source, side: 300, by: pool)
        let large = await verdict(format, source, side: 2_000, by: pool)
        if small != large { return (small, "\(small) at 300, \(large) at 2,000") }
        if let code = ErrorCode(rawValue: small), !honest.contains(code) { return (small, small) }
        guard small == "passed", format == .jpeg else { return (small, nil) }
        let complaint = try await libjpegComplaint(file.path)
        return (small, complaint.map { "passed, where djpeg says: \($0)" })
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
            var request = RenderRequest(format: format, picture: media.isAnimated ? .animationFrame(0) : .still)
            request.thumbnail = ThumbnailRendition(width: side, height: side, fit: .contain)
            _ = try await pool.render(request, source: source, outputs: [output], deadline: deadline)
            return "passed"
        } catch { return (error as? AttachPrepError)?.code.rawValue ?? "\(error)" }
    }

    private static let inventions = [
        "bad Huffman code", "bad arithmetic code", "premature end", "Premature end", "instead of RST",
        "Inconsistent progression",
    ]

    /// What libjpeg-turbo's own program says of data that it invented, or of an error.
    private static func libjpegComplaint(_ path: String) async throws -> String? {
        let words = ["-verbose", "-verbose", "-verbose", "-scale", "1/8", "-outfile", "/dev/null", path]
        let result = try await RunCommand("djpeg", words, timeoutSeconds: 60).run()
        // Inks do not fit its output; with a code of 2 it went on after a warning.
        let isError = ![0, 2].contains(result.exitCode) && !result.errorText.contains("must be grayscale or RGB")
        return result.errorText.split(separator: "\n").map(String.init).first { line in
            inventions.contains { line.contains($0) }
        } ?? (isError ? String(result.errorText.suffix(200)) : nil)
    }
}
