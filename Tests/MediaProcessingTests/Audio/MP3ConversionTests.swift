import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Audio for SDKs that save every audio file as `.mp3`.
@Suite struct MP3ConversionTests {
    /// Seconds by which an MP3 without tags is longer: LAME's delay of 1,105 samples, and the rest of the last frame.
    private func delay(at sampleRate: Int) -> Double { max(0.1, Double(1_105 + 576) / Double(sampleRate)) }

    @Test(arguments: MovieFixture.otherAudio + MovieFixture.attachableAudio)
    func `Every audio format becomes an MP3 of the same duration`(fixture: MovieFixture) throws {
        let audio = try RenderedAudio(fixture, as: .mp3)
        #expect(audio.media.attachment?.type == .mp3)
        #expect(try audio.media.attachment?.bytes == audio.bytes)
        let probe = try audio.probe()
        #expect(probe.format.format_name == "mp3" && probe.codec == "mp3")
        let expected = try inspect(fixture.file(), as: fixture.format).duration ?? 0
        #expect(abs(probe.duration - expected) < delay(at: probe.sampleRate), "\(probe.duration) for \(expected)")
        #expect(try audio.decodeWarnings() == "")
        #expect(audio.media.warnings == [] && !audio.media.isDegraded)
    }

    @Test func `The written file is an intact MP3 that begins with a frame, without tags`() throws {
        let fixture = try #require(MovieFixture.otherAudio.first)
        let audio = try RenderedAudio(fixture, as: .mp3)
        let start = [UInt8](try Data(contentsOf: audio.file).prefix(12))
        #expect(start.starts(with: [0xFF, 0xFB]) && AttachmentType(beginning: start) == .mp3)
        let media = try inspect(audio.file, as: .mp3)
        #expect(media.damage == nil && media.audio.count == 1 && !media.hasMetadata)
    }

    @Test func `MP3 audio in another container is copied bit for bit`() throws {
        let source = try GeneratedMedia.numbered("mp3.mka", "-vn -c:a libmp3lame -b:a 96k")
        let audio = try RenderedAudio(
            source, .matroskaAudio, AudioRendition(.mp3, bytesMax: Limits.audioBytesMax, copies: true))
        let digest = { (file: URL) in
            try GeneratedMedia.run(
                "ffmpeg", ["-v", "error", "-i", file.path, "-c", "copy", "-f", "streamhash", "-hash", "md5", "-"])
        }
        #expect(try digest(audio.file) == digest(source))
    }

    @Test(arguments: [80_000, 60_000, 40_000])
    func `An MP3 over its limit is encoded just below it`(bytesMax: Int) throws {
        let source = try GeneratedMedia.file(
            "noise.wav", ["-f", "lavfi", "-i", "anoisesrc=d=5:c=pink:r=48000:a=0.3", "-ac", "2"])
        let audio = try RenderedAudio(source, .wave, AudioRendition(.mp3, bytesMax: bytesMax, copies: false))
        let bytes = try audio.bytes
        #expect(bytes <= bytesMax && bytes > bytesMax * 8 / 10, "\(bytes) of \(bytesMax)")
        #expect(abs(try audio.duration - 5) < 0.1)
        #expect(try audio.decodeWarnings() == "")
    }

    @Test(arguments: [(1, 8_000), (2, 11_025), (2, 96_000), (6, 48_000)])
    func `Any channel count and sample rate becomes an MP3`(channels: Int, sampleRate: Int) throws {
        let layout = channels == 6 ? "5.1" : channels == 1 ? "mono" : "stereo"
        let source = try GeneratedMedia.file(
            "any.wav",
            [
                "-f", "lavfi", "-i", "sine=440:d=3", "-af", "aformat=channel_layouts=\(layout)", "-ar", "\(sampleRate)",
            ])
        let audio = try RenderedAudio(source, .wave, AudioRendition(.mp3, bytesMax: 1_000_000, copies: false))
        let probe = try audio.probe()
        #expect(probe.channels == min(2, channels) && probe.sampleRate <= 48_000)
        #expect(abs(probe.duration - 3) < delay(at: probe.sampleRate))
        #expect(try audio.decodeWarnings() == "")
    }
}
