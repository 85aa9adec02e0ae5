import Foundation
import TestSupport
import Testing

/// A file that was cut never passes as good.
@Suite(.timeLimit(.minutes(3))) struct CorruptMediaTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    static let percents = [25, 50, 75, 95]

    @Test(arguments: [
        "grid.jpg", "orientation-6.jpg", "cmyk.jpg", "grid.png", "grid.gif", "counter.gif", "tone.wav", "tone.aiff",
        "cover.mp3", "tone.m4a", "clock.mp4", "hevc.mp4", "clock.avi", "grid.webp", "grid.avif", "grid.heic",
        "grid.tiff", "grid.bmp", "transparent.webp",
    ])
    func `A file cut anywhere is media.corrupt`(name: String) async throws {
        let whole = try Data(contentsOf: URL(filePath: SourceTree.sample(name)))
        let lines = try Self.percents.map { percent in
            let path = try bench.folder.write(
                Array(whole.prefix(whole.count * percent / 100)), to: "\(percent)-\(name)")
            return #"{"source": "\#(path)", "id": "cut-\#(percent)"}"#
        }
        let result = try await bench.batch(lines)
        #expect(result.exitCode == 1)
        for percent in Self.percents {
            let manifest = try #require(result.manifests["cut-\(percent)"])
            #expect(manifest.error?.code == "media.corrupt", "cut at \(percent) %: \(manifest.outcome)")
        }
        #expect(try bench.leftovers() == [])
    }

    @Test(arguments: ["grid.jpg", "grid.png", "grid.gif", "counter.gif", "tone.wav", "tone.aiff", "clock.mp4"])
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
