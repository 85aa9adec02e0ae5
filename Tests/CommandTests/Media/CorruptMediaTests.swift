import Foundation
import TestSupport
import Testing

/// A damaged file never passes as intact; one with enough intact data is repaired.
@Suite(.timeLimit(.minutes(3))) struct CorruptMediaTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    static let percents = [25, 50, 75, 95]

    /// The manifests of a sample truncated to several percentages of its length.
    private func cut(_ name: String) async throws -> [Int: PrintedManifest] {
        let whole = try Data(contentsOf: URL(filePath: SourceTree.sample(name)))
        let lines = try Self.percents.map { percent in
            let path = try bench.folder.write(
                Array(whole.prefix(whole.count * percent / 100)), to: "\(percent)-\(name)")
            return #"{"source": "\#(path)", "id": "cut-\#(percent)"}"#
        }
        let result = try await bench.batch(lines)
        #expect(result.exitCode == 1)
        return try Dictionary(
            uniqueKeysWithValues: Self.percents.map { ($0, try #require(result.manifests["cut-\($0)"])) })
    }

    private static let images =
        Sample.convertedStills.map(\.file) + [
            "cmyk.jpg", "grid.png", "grid.gif", "counter.gif", "transparent.webp", "counter.webp", "counter.apng.png",
        ]

    @Test(arguments: images)
    func `A truncated image is media.corrupt`(name: String) async throws {
        for (percent, manifest) in try await cut(name) {
            #expect(manifest.error?.code == "media.corrupt", "cut at \(percent) %: \(manifest.outcome)")
        }
        #expect(try bench.leftovers() == [])
    }

    @Test(arguments: ["grid.jpg", "orientation-6.jpg"])
    func `A JPEG truncated to 95 % is repaired, one truncated to 25 % or 75 % is media.corrupt`(
        name: String
    ) async throws {
        let cuts = try await cut(name)
        for percent in [25, 75] {
            let manifest = try #require(cuts[percent])
            #expect(manifest.error?.code == "media.corrupt", "cut at \(percent) %: \(manifest.outcome)")
        }
        let repaired = try #require(cuts[95])
        #expect(repaired.outcome == "converted" && repaired.warningCodes == ["media.repaired"], "\(repaired)")
    }

    @Test(arguments: ["tone.wav", "tone.aiff", "clock.mp4", "hevc.mp4", "clock.avi", "clock.mkv"])
    func `A movie or audio file truncated to at least half is repaired, others are media.corrupt`(
        name: String
    ) async throws {
        let cuts = try await cut(name)
        let source = try await ProbedMedia(SourceTree.sample(name))
        #expect(cuts[25]?.error?.code == "media.corrupt", "cut at 25 %: \(cuts[25]?.outcome ?? "")")
        for percent in [75, 95] {
            let manifest = try #require(cuts[percent])
            #expect(manifest.outcome == "converted" && manifest.warningCodes == ["media.repaired"], "\(manifest)")
            let repaired = try await ProbedMedia(bench.path(manifest, try #require(manifest.attachment).file))
            #expect(repaired.duration > source.duration / 2 - 0.1 && repaired.duration <= source.duration + 0.1)
            #expect(try await repaired.warnings() == "")
        }
    }

    @Test func `Truncated audio that has lost the index at its end is media.corrupt`() async throws {
        for (percent, manifest) in try await cut("tone.m4a") {
            #expect(manifest.error?.code == "media.corrupt", "cut at \(percent) %: \(manifest.outcome)")
        }
    }

    @Test(arguments: ["grid.png", "grid.gif", "counter.gif"])
    func `A file without its last 16 bytes is media.corrupt`(name: String) async throws {
        let whole = try Data(contentsOf: URL(filePath: SourceTree.sample(name)))
        let path = try bench.folder.write(Array(whole.dropLast(16)), to: "cut")
        try await bench.expectRejection("media.corrupt", of: path)
    }

    @Test(arguments: ["grid.png", "grid.webp", "grid.gif", "grid.tiff"])
    func `A file overwritten in the middle is media.corrupt`(name: String) async throws {
        var bytes = try Data(contentsOf: URL(filePath: SourceTree.sample(name)))
        let middle = bytes.count / 2
        bytes.replaceSubrange(middle..<(middle + 200), with: repeatElement(0xa5, count: 200))
        let path = try bench.folder.write(Array(bytes), to: "patched")
        let manifest = try await bench.prepare(path)
        #expect(manifest.error?.code == "media.corrupt", "\(manifest.outcome)")
    }
}
