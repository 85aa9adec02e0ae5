import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

@Suite struct SoundConversionTests {
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
    ) throws -> RenderedSound {
        var rendition = AudioRendition(bytesMax: bytesMax, copies: false)
        rendition.bitRateMax = bitRateMax
        rendition.isRepair = isRepair
        return try RenderedSound(file, format, rendition, seconds: seconds)
    }

    @Test(arguments: MovieFixture.otherSounds + MovieFixture.attachableSounds)
    func `any sound becomes an M4A that lasts as long`(fixture: MovieFixture) throws {
        let sound = try RenderedSound(fixture)
        #expect(sound.media.attachment?.type == .mpeg4Audio)
        #expect(try sound.media.attachment?.bytes == sound.bytes)
        let probe = try sound.probe()
        #expect(probe.brand == "M4A" && probe.codec == "aac")
        let expected = try inspect(fixture.file(), as: fixture.format).duration ?? 0
        #expect(abs(probe.duration - expected) < 0.05)
        #expect(abs((sound.media.attachment?.duration ?? 0) - probe.duration) < 0.05)
        #expect(try sound.complaints() == "")
        #expect(sound.media.warnings == [] && !sound.media.isDegraded)
    }

    @Test(arguments: [(1, 8_000), (2, 11_025), (1, 37_800), (2, 96_000), (6, 48_000), (8, 192_000)])
    func `any number of channels and any rate is taken`(channels: Int, sampleRate: Int) throws {
        let file = try noise("many.wav", channels: channels, "-ar \(sampleRate) -c:a pcm_s24le")
        let sound = try render(file, .wave)
        let probe = try sound.probe()
        #expect(probe.channels == min(2, channels))
        #expect(probe.sampleRate <= 48_000)
        #expect(abs(probe.duration - 5) < 0.05)
        #expect(try sound.complaints() == "")
        let mixed = ["the \(channels) channels were mixed down to stereo"]
        #expect(sound.media.concessions == (channels > 2 ? mixed : []))
    }

    @Test func `every speaker of 5.1 is heard in the mix`() throws {
        for (channel, isHeard) in [
            ("FL", true), ("FR", true), ("FC", true), ("LFE", false), ("BL", true), ("BR", true),
        ] {
            let file = try GeneratedMedia.file(
                "\(channel).wav",
                [
                    "-f", "lavfi", "-i", "sine=440:d=1:r=48000",
                    "-af", "volume=4,aformat=channel_layouts=mono,pan=5.1|\(channel)=c0", "-c:a", "pcm_s16le",
                ])
            let loudness = try render(file, .wave).samples().loudness(0.2, 0.8)
            #expect(isHeard ? loudness > 0.04 : loudness < 0.01, "\(channel): \(loudness)")
        }
    }

    @Test func `samples that are no numbers do no harm`() throws {
        var bytes = [UInt8](try Data(contentsOf: noise("float.wav", "-c:a pcm_f32le")))
        for offset in stride(from: bytes.count / 2, to: bytes.count / 2 + 80_000, by: 16) {
            bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0xC0, 0x7F])
            bytes.replaceSubrange(offset + 4..<offset + 8, with: [0, 0, 0x80, 0x7F])
        }
        let sound = try render(GeneratedMedia.file("nan.wav", bytes: bytes), .wave)
        #expect(abs(try sound.duration - 5) < 0.05)
        #expect(try sound.complaints() == "")
    }

    @Test func `rate and channels may change on the way`() throws {
        let first = try Data(contentsOf: noise("a.aac", "-c:a aac -ar 44100"))
        let second = try Data(contentsOf: noise("b.aac", channels: 1, "-c:a aac -ar 22050"))
        let sound = try render(GeneratedMedia.file("both.aac", bytes: first + second), .aac)
        #expect(abs(try sound.duration - 10) < 0.2)
        #expect(try sound.complaints() == "")
        #expect(try sound.samples().loudness(6, 9) > 0.02)
    }

    @Test func `a gap is filled with silence, and what follows stays in place`() throws {
        let file = try GeneratedMedia.file(
            "gap.mka",
            [
                "-f", "lavfi", "-i", "sine=440:d=5:r=48000", "-af", "aselect='not(between(t,2,3))',volume=4",
                "-c:a", "libopus", "-copyts",
            ])
        let sound = try render(file, .matroskaAudio)
        let samples = try sound.samples()
        #expect(abs(try sound.duration - 5) < 0.06)
        #expect(samples.loudness(2.1, 2.9) < 0.001)
        #expect(min(samples.loudness(1, 1.9), samples.loudness(3.1, 4.9)) > 0.1)
    }

    @Test func `packets that do not decode become silence`() throws {
        let file = try GeneratedMedia.numbered("hole.mka", "-vn -c:a aac -b:a 64k")
        var bytes = [UInt8](try Data(contentsOf: file))
        let middle = bytes.count / 2
        bytes.replaceSubrange(middle..<middle + 3_000, with: (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        let sound = try render(GeneratedMedia.file("hole.mka", bytes: bytes), .matroskaAudio, isRepair: true)
        #expect(abs(try sound.duration - 5) < 0.06)
        #expect(sound.media.warnings.map(\.code) == [.mediaRepaired])
        #expect(try sound.complaints() == "")
    }

    @Test(arguments: [200_000, 150_000, 125_000])
    func `a sound that is too large is brought close under its limit by its bit rate`(bytesMax: Int) throws {
        let sound = try render(noise("n.flac", seconds: 15, "-c:a flac"), .flac, bytesMax: bytesMax)
        #expect(try (bytesMax * 85 / 100...bytesMax).contains(sound.bytes))
        #expect(abs(try sound.duration - 15) < 0.05)
        #expect(sound.media.concessions.contains { $0.hasPrefix("the bit rate was lowered to") })
        #expect(try sound.probe().channels == (bytesMax < 130_000 ? 1 : 2))
        #expect(sound.media.warnings == [])
        #expect(try sound.complaints() == "")
    }

    @Test func `what needs few bytes gives nothing up for a limit`() throws {
        let file = try GeneratedMedia.file(
            "silence.flac", ["-f", "lavfi", "-i", "anullsrc=d=15:r=44100:cl=stereo", "-c:a", "flac"])
        let sound = try render(file, .flac, bytesMax: 60_000)
        #expect(sound.media.concessions == [])
        #expect(try sound.probe().channels == 2)
    }

    @Test func `below the floor a prefix is kept, and fades out`() throws {
        let sound = try render(noise("n.flac", seconds: 15, "-c:a flac"), .flac, bytesMax: 50_000)
        #expect(try (42_500...50_000).contains(sound.bytes))
        #expect(sound.media.warnings.map(\.code) == [.mediaCut])
        #expect(sound.media.concessions.contains { $0.contains(" of 15 s were kept to fit 50,000 bytes") })
        let (end, samples) = (try sound.duration, try sound.samples())
        #expect((6...9).contains(end))
        #expect(samples.loudness(end - 0.2, end) < samples.loudness(1, 3) / 4)
        #expect(try sound.complaints() == "")
    }

    @Test func `a limit below a second of sound is an error`() throws {
        let file = try noise("n.flac", "-c:a flac")
        let error = #expect(throws: AttachPrepError.self) { try render(file, .flac, bytesMax: 4_000) }
        #expect(error?.code == .limitExceeded)
    }

    @Test func `a bit rate that was asked for is kept`() throws {
        let sound = try render(noise("n.wav", "-c:a pcm_s16le"), .wave, bitRateMax: 96_000)
        #expect(try (85_000...100_000).contains(sound.bytes * 8 / 5))
        #expect(sound.media.concessions == [])
    }

    @Test func `quiet sources get no more than they are worth`() throws {
        let file = try noise("speech.spx", channels: 1, "-ar 16000 -c:a libspeex -b:a 16k")
        #expect(try render(file, .speex).bytes * 8 / 5 < 60_000)
    }

    @Test func `when time is short the sound is shorter, and whole`() throws {
        let file = try noise("long.wav", seconds: 600, "-c:a pcm_s16le")
        let sound = try render(file, .wave, bitRateMax: 64_000, seconds: 2)
        #expect(sound.media.isDegraded)
        #expect(Set(sound.media.warnings.map(\.code)) == [.mediaCut, .deadlineDegraded])
        #expect(try (1...500).contains(sound.duration))
        #expect(try sound.complaints() == "")
    }

    @Test func `a telephone's recording is taken`() throws {
        // AMR at 12.2 kbit/s: each frame is its type and 31 bytes of 20 ms.
        let frame = [0x3C] + (0..<31).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let bytes = Array("#!AMR\n".utf8) + (0..<250).flatMap { _ in frame }
        let sound = try render(GeneratedMedia.file("voice.amr", bytes: bytes), .amr)
        let probe = try sound.probe()
        #expect(probe.sampleRate == 8_000 && probe.channels == 1)
        #expect(abs(probe.duration - 5) < 0.05)
        #expect(try sound.complaints() == "")
    }

    @Test func `tags and covers are left out`() throws {
        let file = try noise("tags.flac", "-c:a flac -metadata artist=Somebody -metadata comment=Here")
        let tags = try render(file, .flac).probe().format.tags
        #expect(Set(tags.keys) == ["major_brand", "minor_version", "compatible_brands"])
    }
}
