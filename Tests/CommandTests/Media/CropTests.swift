import Foundation
import TestSupport
import Testing

/// `--crop`, checked by the numbers of the remaining cells of the grid.
@Suite(.timeLimit(.minutes(2))) struct CropTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func crop(_ manifest: PrintedManifest) async throws -> TestImage {
        try await bench.image(bench.path(manifest, try #require(manifest.crop).file))
    }

    @Test(arguments: [
        ("grid.jpg", "0.25,0,0.5,1", 400, 600, [2, 3, 6, 7, 10, 11]),
        ("grid.jpg", "0.75,0.66667,0.25,0.33333", 200, 200, [12]),
        ("orientation-6.jpg", "0,0,0.5,0.66667", 400, 400, [1, 2, 5, 6]),
        ("grid.png", "0.5,0,0.5,1", 400, 600, [3, 4, 7, 8, 11, 12]),
        ("grid.heic", "0.5,0,0.5,0.66667", 400, 400, [3, 4, 7, 8]),
        ("counter.gif", "0,0,0.5,1", 160, 240, [1, 2, 5, 6, 9, 10]),
        ("clock.mp4", "0.25,0,0.5,1", 160, 240, [2, 3, 6, 7, 10, 11]),
        ("anamorphic.mp4", "0.25,0,0.5,1", 160, 240, [2, 3, 6, 7, 10, 11]),
    ])
    func `A crop shows the requested cells at full resolution`(
        name: String, rect: String, width: Int, height: Int, cells: [Int]
    ) async throws {
        let manifest = try await bench.prepare(CommandBench.url(name), "--crop", rect)
        let image = try await crop(manifest)
        #expect((image.width, image.height) == (width, height))
        #expect((manifest.crop?.width, manifest.crop?.height) == (width, height))
        let columns = width == height && cells.count == 1 ? 1 : 2
        #expect(SampleMotif.cells(in: image, columns: columns, rows: cells.count / columns) == cells)
        #expect(
            SampleMotif.cells(in: try await bench.thumbnail(manifest), columns: columns, rows: cells.count / columns)
                == cells
        )
    }

    @Test func `The options have the clipping rectangle with the keys of iOS`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--crop", "0.25,0,0.5,1")
        #expect(manifest.options?.thumbnailClippingRect == .init(X: 0.25, Y: 0, Width: 0.5, Height: 1))
        #expect(manifest.attachment?.width == 800)
    }

    @Test func `A movie that is stored rotated is encoded upright for a crop`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("portrait.mp4"), "--crop", "0,0,1,0.25")
        let image = try await crop(manifest)
        #expect((image.width, image.height) == (240, 80))
        #expect(SampleMotif.cells(in: image, columns: 3, rows: 1) == [1, 2, 3])
        #expect(manifest.outcome == "converted" && manifest.warnings.isEmpty)
        #expect(manifest.options?.thumbnailClippingRect == .init(X: 0, Y: 0, Width: 1, Height: 0.25))
        let first = try await bench.attachment(manifest)
        #expect(SampleMotif.cells(in: first, columns: 3, rows: 4) == Array(1...12))
    }

    @Test func `--crop smart chooses a rectangle with the requested aspect ratio`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--crop", "smart:2:1")
        let rect = try #require(manifest.options?.thumbnailClippingRect)
        #expect(abs(rect.Width * 800 - 2 * rect.Height * 600) < 3)
        #expect(manifest.crop?.width == 800 && manifest.crop?.height == 400)
    }

    @Test func `Without --crop, there is no crop and no rectangle`() async throws {
        let manifest = try await PreparedSamples.manifest("grid.jpg")
        #expect(manifest.crop == nil)
        #expect(manifest.options?.thumbnailClippingRect == nil)
    }

    @Test(arguments: ["-0.1,0,0.5,1", "0.6,0,0.5,1", "0,0,0,1", "0,0,1,1.01", "nan,0,1,1"])
    func `A rectangle outside the image is rejected before any download`(rect: String) async throws {
        let server = try LoopbackServer()
        try await bench.expectRejection("options.invalid_clipping_rect", of: server.url("/cat.jpg"), "--crop=\(rect)")
        #expect(server.connectionCount == 0)
    }
}
