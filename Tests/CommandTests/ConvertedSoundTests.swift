import Foundation
import TestSupport
import Testing

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
