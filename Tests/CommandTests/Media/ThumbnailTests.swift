import Foundation
import TestSupport
import Testing

/// Thumbnails of stills and movies: their sizes, and the cells of the grid that they show.
@Suite(.timeLimit(.minutes(2))) struct ThumbnailTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private static let upright =
        Sample.convertedStills.map(\.file).filter { $0 != "grid.ico" } + [
            "grid.jpg", "grid.png", "grid.gif", "orientation-6.jpg", "clock.mp4", "hevc.mp4", "anamorphic.mp4",
            "clock.avi", "clock.mpg", "clock.m2v", "counter.gif",
        ]

    @Test(arguments: upright)
    func `A sample's thumbnail shows the upright grid, 300 wide`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect((thumbnail.width, thumbnail.height) == (300, 225))
        #expect((manifest.thumbnail?.width, manifest.thumbnail?.height) == (300, 225))
        #expect(SampleMotif.cells(in: thumbnail) == Array(1...12))
    }

    @Test(arguments: ["grid.jpg", "grid.gif", "orientation-6.jpg", "grid.webp", "grid.avif", "grid.heic", "grid.tiff"])
    func `A still's thumbnail has the still's pixels`(name: String) async throws {
        let thumbnail = try await PreparedSamples.bench.thumbnail(PreparedSamples.manifest(name))
        let distance = ImageDistance(thumbnail, try await CommandBench.image(ofSample: "grid.png"))
        #expect(distance.mean < 2.5 && distance.blockMax < 15, "\(distance)")
    }

    @Test func `CMYK without a profile is read as Adobe's inverted CMYK, not as a negative`() async throws {
        let thumbnail = try await PreparedSamples.bench.thumbnail(PreparedSamples.manifest("cmyk.jpg"))
        let distance = ImageDistance(thumbnail, try await CommandBench.image(ofSample: "grid.png"))
        #expect(distance.mean < 12, "\(distance)")
    }

    @Test func `A movie that is stored rotated has an upright thumbnail, and a warning`() async throws {
        let manifest = try await PreparedSamples.manifest("portrait.mp4")
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect((thumbnail.width, thumbnail.height) == (225, 300))
        #expect(SampleMotif.cells(in: thumbnail, columns: 3, rows: 4) == Array(1...12))
        #expect(manifest.warningCodes == ["video.rotated"])
    }

    @Test(arguments: [
        ("120x240", "contain", 120, 90), ("200x60", "contain", 80, 60), ("120x240", "cover", 120, 240),
        ("90x90", "cover", 90, 90), ("2000x2000", "contain", 800, 600), ("640x480", "contain", 640, 480),
    ])
    func `A thumbnail fits inside its box or fills it`(
        size: String, fit: String, width: Int, height: Int
    ) async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("grid.jpg"), "--thumbnail-size", size, "--thumbnail-fit", fit)
        let thumbnail = try await bench.thumbnail(manifest)
        #expect((thumbnail.width, thumbnail.height) == (width, height))
        guard fit == "contain" else { return }
        let distance = ImageDistance(thumbnail, try await CommandBench.image(ofSample: "grid.png"))
        #expect(distance.mean < 9, "\(distance)")
    }

    @Test func `Cover crops to the center without distortion`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("grid.jpg"), "--thumbnail-size", "100x300", "--thumbnail-fit", "cover")
        let thumbnail = try await bench.thumbnail(manifest)
        // A third as wide as high: the 200 middle pixels of 800, which is half of columns 2 and 3 each.
        #expect(SampleMotif.cell(in: thumbnail, atUnitX: 0.05, y: 0.02) == 2)
        #expect(SampleMotif.cell(in: thumbnail, atUnitX: 0.95, y: 0.02) == 3)
        #expect(SampleMotif.cell(in: thumbnail, atUnitX: 0.05, y: 0.98) == 10)
        #expect(SampleMotif.cell(in: thumbnail, atUnitX: 0.95, y: 0.98) == 11)
    }

    @Test func `Cover never enlarges`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("grid.bmp"), "--thumbnail-size", "1000x1000", "--thumbnail-fit", "cover")
        let thumbnail = try await bench.thumbnail(manifest)
        #expect(thumbnail.width <= 320 && thumbnail.height <= 240)
        #expect(thumbnail.width >= 240 && thumbnail.height == 240)
    }
}

/// Thumbnails of animations and audio.
@Suite(.timeLimit(.minutes(2))) struct AnimationAndAudioThumbnailTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    @Test(arguments: [0, 1, 9, 11])
    func `--thumbnail-time selects a frame of an animation by number`(number: Int) async throws {
        let manifest = try await bench.prepare(CommandBench.url("counter.gif"), "--thumbnail-time", "\(number)")
        #expect(SampleMotif.frameNumber(in: try await bench.thumbnail(manifest)) == number)
        #expect(manifest.options?.frame == number)
        #expect(manifest.thumbnail?.time == Double(number))
        #expect(manifest.warnings == [])
    }

    @Test func `A frame number past the end selects the last frame, with a warning`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("counter.gif"), "--thumbnail-time", "12")
        #expect(SampleMotif.frameNumber(in: try await bench.thumbnail(manifest)) == 11)
        #expect(manifest.options?.frame == 11)
        #expect(manifest.warningCodes == ["time.past_end"])
    }

    @Test func `Without a frame number, the thumbnail is the middle frame, and options have no number`() async throws {
        let manifest = try await PreparedSamples.manifest("counter.gif")
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect(SampleMotif.frameNumber(in: thumbnail) == 6)
        #expect(manifest.options?.frame == nil)
    }

    @Test func `A fractional frame number is options.invalid_time`() async throws {
        try await bench.expectRejection(
            "options.invalid_time", of: CommandBench.url("counter.gif"), "--thumbnail-time", "1.5")
    }

    @Test func `The thumbnail of audio with cover art is the cover`() async throws {
        let thumbnail = try await PreparedSamples.bench.thumbnail(PreparedSamples.manifest("cover.mp3"))
        #expect((thumbnail.width, thumbnail.height) == (300, 225))
        #expect(SampleMotif.cells(in: thumbnail) == Array(1...12))
    }

    @Test(arguments: ["tone.wav", "tone.aiff", "tone.m4a"])
    func `Audio without cover art has no thumbnail`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        #expect(manifest.attachment != nil && manifest.thumbnail == nil)
    }

    @Test func `--hide-thumbnail sets the option thumbnailHidden and still writes the thumbnail`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--hide-thumbnail")
        #expect(manifest.options?.thumbnailHidden == true)
        #expect(manifest.thumbnail != nil)
        #expect(try await PreparedSamples.manifest("grid.jpg").options?.thumbnailHidden == nil)
    }
}
