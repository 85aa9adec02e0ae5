import Foundation
import TestSupport
import Testing

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
