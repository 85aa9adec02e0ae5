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

/// Audio that is not attachable becomes M4A.
@Suite(.timeLimit(.minutes(2))) struct ConvertedAudioTests {
    @Test(arguments: ["tone.flac", "tone.ogg", "tone.opus", "tone.caf"])
    func `Audio that is not attachable becomes an M4A with AAC of the same duration`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        let audio = try await ProbedMedia(PreparedSamples.bench.path(manifest, attachment.file))
        let source = try await ProbedMedia(SourceTree.sample(name))
        #expect(manifest.outcome == "converted" && attachment.uti == "public.mpeg-4-audio")
        #expect(attachment.file == "attachment.m4a" && audio.audio?.codec_name == "aac" && audio.brand == "M4A ")
        #expect(abs(audio.duration - source.duration) < 0.05)
        #expect(try await audio.warnings() == "")
    }

    @Test func `Audio over --max-bytes is shrunk to just below it`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("tone.wav"), "--max-bytes", "22000")
        let attachment = try #require(manifest.attachment)
        #expect(manifest.outcome == "shrunk" && (18_700...22_000).contains(attachment.bytes), "\(attachment.bytes)")
        #expect(manifest.reasons.count > 1)
    }

    @Test(arguments: [0, 0xFF] as [UInt8])
    func `A WAV without sizes, written to a pipe, gets its sizes and keeps each sample`(size: UInt8) async throws {
        let bench = try CommandBench()
        let whole = [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample("tone.wav"))))
        let data = try #require(whole.firstRange(of: Array("data".utf8))).upperBound
        var open = whole
        for range in [4..<8, data..<data + 4] { open.replaceSubrange(range, with: [UInt8](repeating: size, count: 4)) }
        let file = try GeneratedMedia.file("piped.wav", bytes: open)
        let manifest = try await bench.prepare(file.path)
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        #expect(manifest.outcome == "converted" && attachment.file == "attachment.wav" && manifest.warningCodes == [])
        #expect([UInt8](try Data(contentsOf: URL(filePath: bench.path(manifest, attachment.file)))) == whole)
    }

    @Test func `An MP3 with trailing zeros is intact`() async throws {
        let bench = try CommandBench()
        let padded = [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample("cover.mp3"))))
        let file = try GeneratedMedia.file("padded.mp3", bytes: padded + [UInt8](repeating: 0, count: 5_000))
        let manifest = try await bench.prepare(file.path)
        #expect(manifest.outcome == "passed", "\(manifest.reasons)")
    }

    @Test func `Audio that is too long for --max-bytes is cut, with a warning`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("tone.wav"), "--max-bytes", "12000")
        let attachment = try #require(manifest.attachment)
        #expect(attachment.bytes <= 12_000 && manifest.warningCodes == ["media.cut"])
        #expect(try #require(attachment.duration) < 3.5)
    }
}
