import Foundation
import TestSupport
import Testing

/// Animations that iOS rejects or shows as stills become GIF, or with `--animation` a movie or a still.
@Suite(.timeLimit(.minutes(2))) struct ConvertedAnimationTests {
    @Test(arguments: ["counter.webp", "counter.apng.png"])
    func `A WebP or PNG animation becomes a GIF with the same frames and delays`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        let gif = try await ProbedMedia(PreparedSamples.bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "converted" && attachment.uti == "com.compuserve.gif")
        #expect(attachment.file == "attachment.gif" && attachment.frames == 12 && gif.frames == 12)
        #expect(abs(gif.duration - 2.4) < 0.01 && abs((attachment.duration ?? 0) - 2.4) < 0.01)
        let first = try await PreparedSamples.bench.attachment(manifest)
        #expect(SampleMotif.cells(in: first) == Array(1...12))
    }

    @Test(arguments: ["counter.webp", "counter.apng.png", "counter.gif"])
    func `With --animation mp4, an animation becomes a movie`(name: String) async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url(name), "--animation", "mp4", "--thumbnail-time", "9")
        let attachment = try #require(manifest.attachment)
        let movie = try await ProbedMedia(bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "converted" && attachment.uti == "public.mpeg-4" && movie.frames == 12)
        #expect(abs(movie.duration - 2.4) < 0.05)
        #expect(manifest.options?.movieTime == .init(value: 1080, timescale: 600, epoch: 0, flags: 1))
        #expect(try await movie.warnings() == "")
    }

    @Test func `With --animation still, an animation becomes a still, with a warning`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("counter.webp"), "--animation", "still")
        #expect(manifest.outcome == "converted" && manifest.attachment?.frames == 1)
        #expect(manifest.warningCodes == ["animation.lost"] && manifest.options?.frame == nil)
        #expect(SampleMotif.cells(in: try await bench.attachment(manifest)) == Array(1...12))
    }

    @Test func `A GIF over --max-bytes is shrunk below it`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("counter.gif"), "--max-bytes", "9000")
        let attachment = try #require(manifest.attachment)
        #expect(manifest.outcome == "shrunk" && attachment.bytes <= 9000 && attachment.uti == "com.compuserve.gif")
        #expect(manifest.reasons.count > 1)
    }
}
