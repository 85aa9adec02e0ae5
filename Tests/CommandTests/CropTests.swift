import Foundation
import TestSupport
import Testing

/// `--crop`, proved by the numbers of the grid that are left.
@Suite(.timeLimit(.minutes(2))) struct CropTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func crop(_ manifest: PrintedManifest) async throws -> TestPicture {
        try await bench.picture(bench.path(manifest, try #require(manifest.crop).file))
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
    func `A crop holds the cells that were asked for, at full resolution`(
        name: String, rect: String, width: Int, height: Int, cells: [Int]
    ) async throws {
        let manifest = try await bench.prepare(CommandBench.url(name), "--crop", rect)
        let picture = try await crop(manifest)
        #expect((picture.width, picture.height) == (width, height))
        #expect((manifest.crop?.width, manifest.crop?.height) == (width, height))
        let columns = width == height && cells.count == 1 ? 1 : 2
        #expect(SampleMotif.cells(in: picture, columns: columns, rows: cells.count / columns) == cells)
        #expect(
            SampleMotif.cells(in: try await bench.thumbnail(manifest), columns: columns, rows: cells.count / columns)
                == cells
        )
    }

    @Test func `The rectangle goes into the options as iOS spells it`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--crop", "0.25,0,0.5,1")
        #expect(manifest.options?.thumbnailClippingRect == .init(X: 0.25, Y: 0, Width: 0.5, Height: 1))
        #expect(manifest.attachment?.width == 800)
    }

    @Test func `A movie that is stored turned is encoded upright for a crop`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("portrait.mp4"), "--crop", "0,0,1,0.25")
        let picture = try await crop(manifest)
        #expect((picture.width, picture.height) == (240, 80))
        #expect(SampleMotif.cells(in: picture, columns: 3, rows: 1) == [1, 2, 3])
        #expect(manifest.outcome == "converted" && manifest.warnings.isEmpty)
        #expect(manifest.options?.thumbnailClippingRect == .init(X: 0, Y: 0, Width: 1, Height: 0.25))
        let first = try await bench.attachment(manifest)
        #expect(SampleMotif.cells(in: first, columns: 3, rows: 4) == Array(1...12))
    }

    @Test func `The part worth seeing is cut out and emitted, in the proportions that were asked`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--crop", "smart:2:1")
        let rect = try #require(manifest.options?.thumbnailClippingRect)
        #expect(abs(rect.Width * 800 - 2 * rect.Height * 600) < 3)
        #expect(manifest.crop?.width == 800 && manifest.crop?.height == 400)
    }

    @Test func `Without --crop there is no crop and no rectangle`() async throws {
        let manifest = try await PreparedSamples.manifest("grid.jpg")
        #expect(manifest.crop == nil)
        #expect(manifest.options?.thumbnailClippingRect == nil)
    }

    @Test(arguments: ["-0.1,0,0.5,1", "0.6,0,0.5,1", "0,0,0,1", "0,0,1,1.01", "nan,0,1,1"])
    func `A rectangle that is not inside the picture is refused before any download`(rect: String) async throws {
        let server = try LoopbackServer()
        try await bench.expectRejection("options.invalid_clipping_rect", of: server.url("/cat.jpg"), "--crop=\(rect)")
        #expect(server.connectionCount == 0)
    }
}
