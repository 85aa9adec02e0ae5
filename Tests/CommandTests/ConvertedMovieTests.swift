import Foundation
import TestSupport
import Testing

/// Movies that are not attachable become MP4: streams are copied if iOS supports them, and encoded otherwise.
@Suite(.timeLimit(.minutes(4))) struct ConvertedMovieTests {
    /// Without clock.ts: packets of a transport stream have start codes and headers, which MP4 stores elsewhere.
    static let copied = ["clock.mov", "clock.m4v", "clock.3gp", "clock.mkv"]

    @Test(arguments: copied + ["clock.ts", "clock.webm"])
    func `A movie that is not attachable becomes an MP4 with H.264 and AAC`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        let movie = try await ProbedMedia(PreparedSamples.bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "converted" && manifest.warnings.isEmpty)
        #expect(attachment.file == "attachment.mp4" && attachment.uti == "public.mpeg-4")
        #expect(movie.video?.codec_name == "h264" && movie.video?.pix_fmt == "yuv420p")
        let source = try await ProbedMedia(SourceTree.sample(name))
        #expect(movie.audio?.codec_name == "aac" && movie.frames == source.frames)
        #expect((attachment.width, attachment.height) == (320, 240))
        #expect(abs(movie.duration - source.duration) < 0.08)
        #expect(abs((attachment.duration ?? 0) - movie.duration) < 0.02)
        #expect(try movie.beginsWithIndex())
        #expect(try await movie.warnings() == "")
    }

    @Test(arguments: copied) func `Streams that MP4 and iOS support are copied bit by bit`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let file = try #require(manifest.attachment).file
        let copied = try await ProbedMedia.packetDigests(PreparedSamples.bench.path(manifest, file))
        #expect(try await copied == ProbedMedia.packetDigests(SourceTree.sample(name)))
    }

    @Test func `The thumbnail of a converted movie is the frame in its middle`() async throws {
        let manifest = try await PreparedSamples.manifest("clock.webm")
        #expect(abs((manifest.thumbnail?.time ?? 0) - 1) < 0.04)
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect(SampleMotif.cells(in: thumbnail) == Array(1...12))
    }

    @Test func `With --bake-rotation, a movie that is stored rotated is encoded upright`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("portrait.mp4"), "--bake-rotation")
        let attachment = try #require(manifest.attachment)
        let movie = try await ProbedMedia(bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "converted" && manifest.warnings.isEmpty && !movie.isRotated)
        #expect(movie.video?.width == attachment.width && movie.video?.height == attachment.height)
        #expect(try #require(attachment.width) < #require(attachment.height))
        let first = try await bench.image(bench.path(manifest, attachment.file))
        #expect(SampleMotif.cells(in: first, columns: 3, rows: 4) == Array(1...12))
    }

    @Test func `A movie over --max-bytes is shrunk to just below it`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("clock.mp4"), "--max-bytes", "32000")
        let attachment = try #require(manifest.attachment)
        let movie = try await ProbedMedia(bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "shrunk" && manifest.reasons.count > 1)
        #expect((27_200...32_000).contains(attachment.bytes), "\(attachment.bytes)")
        #expect(try await movie.warnings() == "" && abs(movie.duration - 4) < 0.08)
    }

    @Test func `A movie with its first three quarters is repaired`() async throws {
        let manifest = try await PreparedSamples.manifest("cut.mp4")
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        let movie = try await ProbedMedia(PreparedSamples.bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "converted" && manifest.warningCodes == ["media.repaired"])
        #expect((2.0...3.8).contains(movie.duration), "\(movie.duration)")
        #expect(try await movie.warnings() == "")
    }

    @Test func `With --thumbnail-time auto, the time of the chosen frame is in the options`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("clock.mp4"), "--thumbnail-time", "auto")
        let time = try #require(manifest.thumbnail?.time)
        #expect(manifest.outcome == "passed")
        #expect(manifest.options?.movieTime?.value == Int((time * 600 - 1e-6).rounded(.up)))
    }
}
