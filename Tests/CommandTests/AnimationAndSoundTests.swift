import Foundation
import TestSupport
import Testing

/// Thumbnails of animations and sounds.
@Suite(.timeLimit(.minutes(2))) struct AnimationAndSoundTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    @Test(arguments: [0, 1, 9, 11])
    func `An animation's frame is asked for by number`(number: Int) async throws {
        let manifest = try await bench.prepare(CommandBench.url("counter.gif"), "--thumbnail-time", "\(number)")
        #expect(SampleMotif.frameNumber(in: try await bench.thumbnail(manifest)) == number)
        #expect(manifest.options?.frame == number)
        #expect(manifest.thumbnail?.time == Double(number))
        #expect(manifest.warnings == [])
    }

    @Test func `A frame past the end is the last one, with a warning`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("counter.gif"), "--thumbnail-time", "12")
        #expect(SampleMotif.frameNumber(in: try await bench.thumbnail(manifest)) == 11)
        #expect(manifest.options?.frame == 11)
        #expect(manifest.warningCodes == ["time.past_end"])
    }

    @Test func `Without a number it is the frame in the middle, and no number is emitted`() async throws {
        let manifest = try await PreparedSamples.manifest("counter.gif")
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect(SampleMotif.frameNumber(in: thumbnail) == 6)
        #expect(manifest.options?.frame == nil)
    }

    @Test func `Half a frame is options.invalid_time`() async throws {
        try await bench.expectRejection(
            "options.invalid_time", of: CommandBench.url("counter.gif"), "--thumbnail-time", "1.5")
    }

    @Test func `A sound with a cover has the cover as its thumbnail`() async throws {
        let thumbnail = try await PreparedSamples.bench.thumbnail(PreparedSamples.manifest("cover.mp3"))
        #expect((thumbnail.width, thumbnail.height) == (300, 225))
        #expect(SampleMotif.cells(in: thumbnail) == Array(1...12))
    }

    @Test(arguments: ["tone.wav", "tone.aiff", "tone.m4a"])
    func `A sound without a cover has no thumbnail`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        #expect(manifest.attachment != nil && manifest.thumbnail == nil)
    }

    @Test func `A hidden thumbnail is an option of the attachment; the file is made all the same`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--hide-thumbnail")
        #expect(manifest.options?.thumbnailHidden == true)
        #expect(manifest.thumbnail != nil)
        #expect(try await PreparedSamples.manifest("grid.jpg").options?.thumbnailHidden == nil)
    }
}
