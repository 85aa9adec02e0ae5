import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

@Suite struct SoundCopyTests {
    static let fixtures = [
        MovieFixture("raw.aac", .aac, "-vn -c:a aac"), MovieFixture("core.caf", .caf, "-vn -c:a alac"),
        MovieFixture("sound.mov", .quickTimeAudio, "-vn -c:a aac"),
        MovieFixture("alac.mov", .quickTimeAudio, "-vn -c:a alac"),
        MovieFixture("aac.mka", .matroskaAudio, "-vn -c:a aac"),
        MovieFixture("sound.3gp", .threeGPPAudio, "-vn -ac 1 -c:a aac"),
    ]

    /// A digest of the packets, without ADTS headers.
    private func digest(_ file: URL) throws -> String {
        let filter = file.pathExtension == "aac" ? ["-bsf:a", "aac_adtstoasc"] : []
        let output = try GeneratedMedia.run(
            "ffmpeg", ["-v", "error", "-i", file.path, "-map", "0:a", "-c", "copy"] + filter + ["-f", "md5", "-"])
        return String(decoding: output, as: UTF8.self)
    }

    @Test(arguments: fixtures) func `streams that fit are copied bit for bit`(fixture: MovieFixture) throws {
        let sound = try RenderedSound(fixture, copies: true)
        #expect(try digest(sound.file) == digest(fixture.file()))
        let probe = try sound.probe()
        #expect(probe.brand == "M4A")
        let expected = try inspect(fixture.file(), as: fixture.format).duration ?? 0
        #expect(abs(probe.duration - expected) < 0.05)
        #expect(try sound.complaints() == "")
        #expect(sound.media.concessions == [] && sound.media.warnings == [])
    }

    @Test func `a copy that would be too large is encoded`() throws {
        let sound = try RenderedSound(Self.fixtures[1], bytesMax: 60_000, copies: true)
        #expect(try sound.bytes <= 60_000)
        #expect(try sound.probe().codec == "aac")
    }

    @Test func `a copy above the bit rate that is wanted is encoded`() throws {
        var rendition = AudioRendition(bytesMax: Limits.audioBytesMax, copies: true)
        rendition.bitRateMax = 40_000
        let fixture = Self.fixtures[0]
        let sound = try RenderedSound(fixture.file(), fixture.format, rendition)
        #expect(try sound.bytes * 8 / 5 < 50_000)
    }

    @Test func `a stream that M4A cannot hold is encoded`() throws {
        let sound = try RenderedSound(MovieFixture("opus.opus", .opus, "-vn -c:a libopus"), copies: true)
        #expect(try sound.probe().codec == "aac")
    }
}
