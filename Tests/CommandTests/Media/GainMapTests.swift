import Foundation
import TestSupport
import Testing

/// JPEGs with a gain map keep it when they are delivered unchanged; what is made from them shows the SDR image.
@Suite(.timeLimit(.minutes(2))) struct GainMapTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func source() async throws -> String {
        let base = [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg"))))
        let map = try await onOwnThread {
            try GeneratedMedia.file(
                "gain.jpg", ["-f", "lavfi", "-i", "gradients=s=200x150:c0=black:c1=white", "-frames:v", "1"])
        }
        return try bench.folder.write(
            UltraHDR.joined(base: base, gainMap: [UInt8](Data(contentsOf: map))), to: "ultra.jpg")
    }

    @Test func `A JPEG with a gain map that fits is delivered byte for byte`() async throws {
        let path = try await source()
        let manifest = try await bench.prepare(path)
        let delivered = try Data(contentsOf: URL(filePath: bench.path(manifest, #require(manifest.attachment).file)))
        #expect(manifest.outcome == "passed")
        #expect(try delivered == Data(contentsOf: URL(filePath: path)))
        #expect(SampleMotif.cells(in: try await bench.thumbnail(manifest)) == Array(1...12))
    }

    @Test(arguments: [["--max-bytes", "30000"], ["--rendition", "display"]])
    func `What is made from it is the SDR image, without gain map and index`(options: [String]) async throws {
        let manifest = try await bench.prepare(try await source(), options: options)
        let path = try bench.path(manifest, #require(manifest.attachment).file)
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        #expect(manifest.outcome == "shrunk")
        #expect(bytes.firstRange(of: Array("MPF\0".utf8)) == nil && bytes.firstRange(of: Array("hdrgm".utf8)) == nil)
        #expect(bytes.suffix(2) == [0xFF, 0xD9] && bytes.ranges(of: [0xFF, 0xD8, 0xFF]).count == 1)
        #expect(SampleMotif.cells(in: try await bench.image(path)) == Array(1...12))
    }
}
