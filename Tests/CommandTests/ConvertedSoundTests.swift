import Foundation
import TestSupport
import Testing

/// Sounds that iOS refuses become M4A.
@Suite(.timeLimit(.minutes(2))) struct ConvertedSoundTests {
    @Test(arguments: ["tone.flac", "tone.ogg", "tone.opus", "tone.caf"])
    func `A foreign sound becomes an M4A with AAC, as long as it was`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        let sound = try await ProbedMedia(PreparedSamples.bench.path(manifest, attachment.file))
        let source = try await ProbedMedia(SourceTree.sample(name))
        #expect(manifest.outcome == "converted" && attachment.uti == "public.mpeg-4-audio")
        #expect(attachment.file == "attachment.m4a" && sound.audio?.codec_name == "aac" && sound.brand == "M4A ")
        #expect(abs(sound.duration - source.duration) < 0.05)
        #expect(try await sound.complaints() == "")
    }

    @Test func `A sound over --max-bytes is brought under it and close to it`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("tone.wav"), "--max-bytes", "22000")
        let attachment = try #require(manifest.attachment)
        #expect(manifest.outcome == "shrunk" && (18_700...22_000).contains(attachment.bytes), "\(attachment.bytes)")
        #expect(manifest.reasons.count > 1)
    }

    @Test(arguments: [0, 0xFF] as [UInt8])
    func `A WAV from a pipe gets the sizes it lacks, and keeps each sample`(size: UInt8) async throws {
        let bench = try CommandBench()
        let whole = [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample("tone.wav"))))
        let data = try #require(whole.firstRange(of: Array("data".utf8))).upperBound
        var open = whole
        for place in [4..<8, data..<data + 4] { open.replaceSubrange(place, with: [UInt8](repeating: size, count: 4)) }
        let file = try GeneratedMedia.file("piped.wav", bytes: open)
        let manifest = try await bench.prepare(file.path)
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        #expect(manifest.outcome == "converted" && attachment.file == "attachment.wav" && manifest.warningCodes == [])
        #expect([UInt8](try Data(contentsOf: URL(filePath: bench.path(manifest, attachment.file)))) == whole)
    }

    @Test func `Zeros behind an MP3 are no damage`() async throws {
        let bench = try CommandBench()
        let padded = [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample("cover.mp3"))))
        let file = try GeneratedMedia.file("padded.mp3", bytes: padded + [UInt8](repeating: 0, count: 5_000))
        let manifest = try await bench.prepare(file.path)
        #expect(manifest.outcome == "passed", "\(manifest.reasons)")
    }

    @Test func `What is too long for its bytes is cut, and says so`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("tone.wav"), "--max-bytes", "12000")
        let attachment = try #require(manifest.attachment)
        #expect(attachment.bytes <= 12_000 && manifest.warningCodes == ["media.cut"])
        #expect(try #require(attachment.duration) < 3.5)
    }
}
