import AttachPrepModel
import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@Suite struct AudioConversionTests {
    /// Five seconds of pink noise, different on each channel.
    private func noise(_ name: String, channels: Int = 2, seconds: Int = 5, _ arguments: String) throws -> URL {
        let source = "anoisesrc=d=\(seconds):c=pink:r=48000:a=0.3:s="
        let inputs = (1...channels).flatMap { ["-f", "lavfi", "-i", source + "\($0)"] }
        let join = (0..<channels).map { "[\($0):a]" }.joined() + "amerge=inputs=\(channels)"
        let layout =
            channels == 6 ? ",aformat=channel_layouts=5.1" : channels == 8 ? ",aformat=channel_layouts=7.1" : ""
        return try GeneratedMedia.file(
            name,
            inputs + ["-filter_complex", join + layout] + arguments.split(separator: " ").map(String.init))
    }

    private func render(
        _ file: URL, _ format: MediaFormat, bytesMax: Int = Limits.audioBytesMax, bitRateMax: Int? = nil,
        isRepair: Bool = false, seconds: Double = 60
    ) throws -> RenderedAudio {
        var rendition = AudioRendition(bytesMax: bytesMax, copies: false)
        rendition.bitRateMax = bitRateMax
        rendition.isRepair = isRepair
        return try RenderedAudio(file, format, rendition, seconds: seconds)
    }

    @Test(arguments: MovieFixture.otherAudio + MovieFixture.attachableAudio)
    func `Every audio format becomes an M4A of the same duration`(fixture: MovieFixture) throws {
        let audio = try RenderedAudio(fixture)
        #expect(audio.media.attachment?.type == .mpeg4Audio)
        #expect(try audio.media.attachment?.bytes == audio.bytes)
        let probe = try audio.probe()
        #expect(probe.brand == "M4A" && probe.codec == "aac")
        let expected = try inspect(fixture.file(), as: fixture.format).duration ?? 0
        #expect(abs(probe.duration - expected) < 0.05)
        #expect(abs((audio.media.attachment?.duration ?? 0) - probe.duration) < 0.05)
        #expect(try audio.decodeWarnings() == "")
        #expect(audio.media.warnings == [] && !audio.media.isDegraded)
    }

    @Test(arguments: [(1, 8_000), (2, 11_025), (1, 37_800), (2, 96_000), (6, 48_000), (8, 192_000)])
    func `Any channel count and sample rate is converted`(channels: Int, sampleRate: Int) throws {
        let file = try noise("many.wav", channels: channels, "-ar \(sampleRate) -c:a pcm_s24le")
        let audio = try render(file, .wave)
        let probe = try audio.probe()
        #expect(probe.channels == min(2, channels))
        #expect(probe.sampleRate <= 48_000)
        #expect(abs(probe.duration - 5) < 0.05)
        #expect(try audio.decodeWarnings() == "")
        let mixed = ["the \(channels) channels were mixed down to stereo"]
        #expect(audio.media.reductions == (channels > 2 ? mixed : []))
    }

    @Test func `Every 5.1 channel except LFE is in the stereo mix`() throws {
        for (channel, isMixed) in [
            ("FL", true), ("FR", true), ("FC", true), ("LFE", false), ("BL", true), ("BR", true),
        ] {
            let file = try GeneratedMedia.file(
                "\(channel).wav",
                [
                    "-f", "lavfi", "-i", "sine=440:d=1:r=48000",
                    "-af", "volume=4,aformat=channel_layouts=mono,pan=5.1|\(channel)=c0", "-c:a", "pcm_s16le",
                ])
            let loudness = try render(file, .wave).samples().loudness(0.2, 0.8)
            #expect(isMixed ? loudness > 0.04 : loudness < 0.01, "\(channel): \(loudness)")
        }
    }

    @Test func `NaN and infinite samples do not break the conversion`() throws {
        var bytes = [UInt8](try Data(contentsOf: noise("float.wav", "-c:a pcm_f32le")))
        for offset in stride(from: bytes.count / 2, to: bytes.count / 2 + 80_000, by: 16) {
            bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0xC0, 0x7F])
            bytes.replaceSubrange(offset + 4..<offset + 8, with: [0, 0, 0x80, 0x7F])
        }
        let audio = try render(GeneratedMedia.file("nan.wav", bytes: bytes), .wave)
        #expect(abs(try audio.duration - 5) < 0.05)
        #expect(try audio.decodeWarnings() == "")
    }

    @Test func `Sample rate and channel count may change within the stream`() throws {
        let first = try Data(contentsOf: noise("a.aac", "-c:a aac -ar 44100"))
        let second = try Data(contentsOf: noise("b.aac", channels: 1, "-c:a aac -ar 22050"))
        let audio = try render(GeneratedMedia.file("both.aac", bytes: first + second), .aac)
        #expect(abs(try audio.duration - 10) < 0.2)
        #expect(try audio.decodeWarnings() == "")
        #expect(try audio.samples().loudness(6, 9) > 0.02)
    }

    @Test func `A gap is filled with silence, and later audio keeps its time`() throws {
        let file = try GeneratedMedia.file(
            "gap.mka",
            [
                "-f", "lavfi", "-i", "sine=440:d=5:r=48000", "-af", "aselect='not(between(t,2,3))',volume=4",
                "-c:a", "libopus", "-copyts",
            ])
        let audio = try render(file, .matroskaAudio)
        let samples = try audio.samples()
        #expect(abs(try audio.duration - 5) < 0.06)
        #expect(samples.loudness(2.1, 2.9) < 0.001)
        #expect(min(samples.loudness(1, 1.9), samples.loudness(3.1, 4.9)) > 0.1)
    }

    @Test func `Packets that do not decode are replaced with silence`() throws {
        let file = try GeneratedMedia.numbered("hole.mka", "-vn -c:a aac -b:a 64k")
        var bytes = [UInt8](try Data(contentsOf: file))
        let middle = bytes.count / 2
        bytes.replaceSubrange(middle..<middle + 3_000, with: (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        let audio = try render(GeneratedMedia.file("hole.mka", bytes: bytes), .matroskaAudio, isRepair: true)
        #expect(abs(try audio.duration - 5) < 0.06)
        #expect(audio.media.warnings.map(\.code) == [.mediaRepaired])
        #expect(try audio.decodeWarnings() == "")
    }

    @Test(arguments: [200_000, 150_000, 125_000])
    func `Audio over its limit is encoded just below it at a lower bit rate`(bytesMax: Int) throws {
        let audio = try render(noise("n.flac", seconds: 15, "-c:a flac"), .flac, bytesMax: bytesMax)
        #expect(try (bytesMax * 85 / 100...bytesMax).contains(audio.bytes))
        #expect(abs(try audio.duration - 15) < 0.05)
        #expect(audio.media.reductions.contains { $0.hasPrefix("the bit rate was lowered to") })
        #expect(try audio.probe().channels == (bytesMax < 130_000 ? 1 : 2))
        #expect(audio.media.warnings == [])
        #expect(try audio.decodeWarnings() == "")
    }

    @Test func `Silence fits a small limit without reductions`() throws {
        let file = try GeneratedMedia.file(
            "silence.flac", ["-f", "lavfi", "-i", "anullsrc=d=15:r=44100:cl=stereo", "-c:a", "flac"])
        let audio = try render(file, .flac, bytesMax: 60_000)
        #expect(audio.media.reductions == [])
        #expect(try audio.probe().channels == 2)
    }

    @Test func `Below the minimum bit rate the audio is cut and fades out`() throws {
        let audio = try render(noise("n.flac", seconds: 15, "-c:a flac"), .flac, bytesMax: 50_000)
        #expect(try (42_500...50_000).contains(audio.bytes))
        #expect(audio.media.warnings.map(\.code) == [.mediaCut])
        #expect(audio.media.reductions.contains { $0.contains(" of 15 s were kept to fit 50,000 bytes") })
        let (end, samples) = (try audio.duration, try audio.samples())
        #expect((6...9).contains(end))
        #expect(samples.loudness(end - 0.2, end) < samples.loudness(1, 3) / 4)
        #expect(try audio.decodeWarnings() == "")
    }

    @Test func `A limit below one second of audio fails with limit exceeded`() throws {
        let file = try noise("n.flac", "-c:a flac")
        let error = #expect(throws: AttachPrepError.self) { try render(file, .flac, bytesMax: 4_000) }
        #expect(error?.code == .limitExceeded)
    }

    @Test func `A requested bit rate is met`() throws {
        let audio = try render(noise("n.wav", "-c:a pcm_s16le"), .wave, bitRateMax: 96_000)
        #expect(try (85_000...100_000).contains(audio.bytes * 8 / 5))
        #expect(audio.media.reductions == [])
    }

    @Test func `The bit rate stays low for a source of low bit rate`() throws {
        let file = try noise("speech.spx", channels: 1, "-ar 16000 -c:a libspeex -b:a 16k")
        #expect(try render(file, .speex).bytes * 8 / 5 < 60_000)
    }

    @Test func `When time is short the audio is cut and the file is valid`() throws {
        let file = try noise("long.wav", seconds: 600, "-c:a pcm_s16le")
        let audio = try render(file, .wave, bitRateMax: 64_000, seconds: 2)
        #expect(audio.media.isDegraded)
        #expect(Set(audio.media.warnings.map(\.code)) == [.mediaCut, .deadlineDegraded])
        #expect(try (1...500).contains(audio.duration))
        #expect(try audio.decodeWarnings() == "")
    }

    @Test func `An AMR recording is converted`() throws {
        // AMR at 12.2 kbit/s: each frame of 20 ms has a type byte and 31 bytes of data.
        let frame = [0x3C] + (0..<31).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let bytes = Array("#!AMR\n".utf8) + (0..<250).flatMap { _ in frame }
        let audio = try render(GeneratedMedia.file("voice.amr", bytes: bytes), .amr)
        let probe = try audio.probe()
        #expect(probe.sampleRate == 8_000 && probe.channels == 1)
        #expect(abs(probe.duration - 5) < 0.05)
        #expect(try audio.decodeWarnings() == "")
    }

    @Test func `Tags of the source are removed`() throws {
        let file = try noise("tags.flac", "-c:a flac -metadata artist=Somebody -metadata comment=Here")
        let tags = try #require(try render(file, .flac).probe().format.tags)
        #expect(Set(tags.keys) == ["major_brand", "minor_version", "compatible_brands"])
    }
}

@Suite struct AudioCopyTests {
    static let fixtures = [
        MovieFixture("raw.aac", .aac, "-vn -c:a aac"), MovieFixture("core.caf", .caf, "-vn -c:a alac"),
        MovieFixture("audio.mov", .quickTimeAudio, "-vn -c:a aac"),
        MovieFixture("alac.mov", .quickTimeAudio, "-vn -c:a alac"),
        MovieFixture("aac.mka", .matroskaAudio, "-vn -c:a aac"),
        MovieFixture("audio.3gp", .threeGPPAudio, "-vn -ac 1 -c:a aac"),
    ]

    /// A digest of the packets, without ADTS headers.
    private func digest(_ file: URL) throws -> String {
        let filter = file.pathExtension == "aac" ? ["-bsf:a", "aac_adtstoasc"] : []
        let output = try GeneratedMedia.run(
            "ffmpeg", ["-v", "error", "-i", file.path, "-map", "0:a", "-c", "copy"] + filter + ["-f", "md5", "-"])
        return String(decoding: output, as: UTF8.self)
    }

    @Test(arguments: fixtures) func `Streams that fit are copied bit for bit`(fixture: MovieFixture) throws {
        let audio = try RenderedAudio(fixture, copies: true)
        #expect(try digest(audio.file) == digest(fixture.file()))
        let probe = try audio.probe()
        #expect(probe.brand == "M4A")
        let expected = try inspect(fixture.file(), as: fixture.format).duration ?? 0
        #expect(abs(probe.duration - expected) < 0.05)
        #expect(try audio.decodeWarnings() == "")
        #expect(audio.media.reductions == [] && audio.media.warnings == [])
    }

    @Test func `A copy over the size limit is encoded instead`() throws {
        let audio = try RenderedAudio(Self.fixtures[1], bytesMax: 60_000, copies: true)
        #expect(try audio.bytes <= 60_000)
        #expect(try audio.probe().codec == "aac")
    }

    @Test func `A copy above the requested bit rate is encoded instead`() throws {
        var rendition = AudioRendition(bytesMax: Limits.audioBytesMax, copies: true)
        rendition.bitRateMax = 40_000
        let fixture = Self.fixtures[0]
        let audio = try RenderedAudio(fixture.file(), fixture.format, rendition)
        #expect(try audio.bytes * 8 / 5 < 50_000)
    }

    @Test func `A stream that M4A cannot hold is encoded`() throws {
        let audio = try RenderedAudio(MovieFixture("opus.opus", .opus, "-vn -c:a libopus"), copies: true)
        #expect(try audio.probe().codec == "aac")
    }
}
