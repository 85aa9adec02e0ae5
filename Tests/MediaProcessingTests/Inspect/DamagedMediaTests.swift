import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

@Suite struct DamagedMediaTests {
    /// Movies that declare their duration.
    static let declared = ["faststart.mp4", "xvid.avi", "x264.mkv", "vp9.webm", "wmv2.wmv", "flv1.flv"].compactMap {
        name in
        MovieFixture.all.first { $0.name == name }
    }
    static let declaredAudio = [
        "pcm.wav", "adpcm.wav", "rf64.wav", "pcm.aiff", "constant.mp3", "variable.mp3", "free.flac", "sun.au",
        "sowt.aif", "pack.wv", "sony.w64", "sound.mka", "sound.wma",
    ].compactMap { name in MovieFixture.all.first { $0.name == name } }
    /// Streams that consist of frames only: no more is known than that the last one is truncated.
    static let undeclared = [
        "x264.ts", "mpeg2.mpg", "bare.m2v", "bare.mp3", "layer2.mp2", "raw.aac", "dolby.ac3", "theora.ogv",
        "opus.opus",
    ].compactMap { name in MovieFixture.all.first { $0.name == name } }

    private func code(_ file: URL, as format: MediaFormat? = nil) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try inspect(file, as: format) }?.code
    }

    @Test(arguments: declared + declaredAudio)
    func `A truncated file with more than half of its duration is repairable`(
        fixture: MovieFixture
    ) throws {
        let media = try inspect(GeneratedMedia.cut(fixture.file(), percent: 68), as: fixture.format)
        #expect(media.format == fixture.format)
        #expect((2.5...4.5).contains(media.duration ?? 0))
        #expect(abs((media.damage?.declaredDuration ?? 0) - 5) < 0.3)
    }

    @Test(arguments: declared + declaredAudio) func `A truncated file with less than half of its duration is corrupt`(
        fixture: MovieFixture
    ) throws {
        #expect(code(try GeneratedMedia.cut(fixture.file(), percent: 30), as: fixture.format) == .mediaCorrupt)
    }

    @Test(arguments: undeclared)
    func `A truncated stream without a declared duration is damaged at its end`(fixture: MovieFixture) throws {
        let media = try inspect(GeneratedMedia.cut(fixture.file(), percent: 62), as: fixture.format)
        #expect((2...4).contains(media.duration ?? 0))
        #expect(abs((media.damage?.declaredDuration ?? 0) - (media.duration ?? 0)) < 0.01)
    }

    @Test(arguments: ["x264.mp4", "sound.mov", "core.caf"])
    func `A file truncated before its index is corrupt`(name: String) throws {
        let fixture = try #require(MovieFixture.all.first { $0.name == name })
        #expect(code(try GeneratedMedia.cut(fixture.file(), percent: 90), as: fixture.format) == .mediaCorrupt)
    }

    @Test func `A truncated encrypted movie is reported as encrypted`() throws {
        let key = "00112233445566778899aabbccddeeff"
        let file = try GeneratedMedia.numbered(
            "cenc.mp4",
            "-t 2 -c:v libx264 -pix_fmt yuv420p -c:a aac -movflags +faststart"
                + " -encryption_scheme cenc-aes-ctr -encryption_key \(key) -encryption_kid \(key)")
        #expect(code(try GeneratedMedia.cut(file, percent: 80)) == .mediaEncrypted)
    }

    @Test(arguments: ["drms", "enca"]) func `Encrypted audio is recognized by its sample entry`(entry: String) throws {
        let file = try GeneratedMedia.numbered("plain.m4a", "-vn -c:a aac -movflags +faststart")
        var bytes = [UInt8](try Data(contentsOf: file))
        let range = try #require(bytes.firstRange(of: Array("mp4a".utf8)))
        bytes.replaceSubrange(range, with: Array(entry.utf8))
        #expect(code(try GeneratedMedia.file("\(entry).m4a", bytes: bytes), as: .mpeg4Audio) == .mediaEncrypted)
        let truncated = bytes.prefix(bytes.count * 3 / 4)
        #expect(code(try GeneratedMedia.file("\(entry)-cut.m4a", bytes: truncated), as: .mpeg4Audio) == .mediaEncrypted)
    }

    @Test func `A movie without a decodable frame is corrupt`() throws {
        let file = try MovieFixture.attachableMovies[1].file()
        var bytes = [UInt8](try Data(contentsOf: file))
        let samples = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
        for index in samples..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 13) }
        #expect(code(try GeneratedMedia.file("noise.mp4", bytes: bytes), as: .mpeg4) == .mediaCorrupt)
    }

    @Test func `Noise in a keyframe of a large movie is found every time`() throws {
        let arguments =
            "-vf scale=1280:960,noise=alls=20:allf=t -t 1 -c:v libx264 -preset veryfast -pix_fmt yuv420p -g 12"
        var bytes = [UInt8](try Data(contentsOf: GeneratedMedia.numbered("noisy.mp4", arguments + " -bf 3 -an")))
        var noise = SeededGenerator(7)
        // Inside the first keyframe.
        let start = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound + 9_000
        for offset in start..<start + 4_096 { bytes[offset] = UInt8(truncatingIfNeeded: noise.next()) }
        let file = try GeneratedMedia.file("noise-page.mp4", bytes: bytes)
        let verdicts = (0..<8).map { _ in
            do { return "\(try inspect(file).damage != nil)" } catch { return "\(error)" }
        }
        #expect(!verdicts.contains("false"), "\(verdicts)")
    }

    @Test(arguments: [1, 8, 100_000])
    func `A media data box larger than the file is a container defect, not damage`(excess: Int) throws {
        let file = try #require(MovieFixture.attachableMovies.first { $0.name == "faststart.mp4" }).file()
        var bytes = [UInt8](try Data(contentsOf: file))
        let size = try #require(bytes.firstRange(of: Array("mdat".utf8))).lowerBound - 4
        let declared = bytes[size..<size + 4].reduce(0) { $0 << 8 | Int($1) }
        bytes.replaceSubrange(size..<size + 4, with: ParserBytes.bigEndian(declared + excess, 4))
        let media = try inspect(GeneratedMedia.file("past-end.mp4", bytes: bytes))
        #expect(media.damage == nil && media.containerDefect == .mediaDataExceedsFile)
        let truncated = try inspect(GeneratedMedia.file("past-end-cut.mp4", bytes: bytes.dropLast(3_000)))
        #expect(truncated.damage != nil)
    }

    @Test func `Text after a movie is a container defect, not damage`() throws {
        let file = try #require(MovieFixture.attachableMovies.first { $0.name == "faststart.mp4" }).file()
        let bytes = [UInt8](try Data(contentsOf: file)) + Array("<html>Not found</html>".utf8)
        let media = try inspect(GeneratedMedia.file("text-behind.mp4", bytes: bytes))
        #expect(media.damage == nil && media.containerDefect == .trailingData)
    }

    @Test func `Inspection reports that a movie's frames were validated`() throws {
        #expect(try inspect(MovieFixture.attachableMovies[0].file()).isValidated)
    }

    @Test func `Validation stops when its time is spent, and inspection completes`() throws {
        try withDescriptor(MovieFixture.attachableMovies[0].file()) { descriptor in
            let deadline = ContinuousClock.now + .seconds(60)
            let movie = try OpenMovie.open(descriptor, format: nil, isRecognized: true, deadline: deadline)
            let timer = ValidationTimer(seconds: -1)
            let packetInspection = try PacketInspection.run(movie, deadline: deadline, validation: timer)
            #expect(timer.isSpent)
            #expect(try abs((packetInspection.times(of: #require(movie.video))?.end ?? 0) - 5) < 0.05)
        }
    }

    @Test(arguments: [
        ("artist.m4a", "-vn -c:a aac -metadata artist=Somebody"),
        ("title.mp3", "-vn -c:a libmp3lame -metadata title=Song"),
        ("comment.ogg", "-vn -c:a libvorbis -metadata comment=Here"),
        ("location.mov", "-t 1 -metadata location=+48.2+016.3/"),
        ("date.mp4", "-t 1 -metadata creation_time=2026-11-01T12:00:00Z"), ("title.mkv", "-t 1 -metadata title=Film"),
    ])
    func `Tags with a location, person, title or date are reported as metadata`(
        name: String, arguments: String
    ) throws {
        #expect(try inspect(GeneratedMedia.numbered(name, arguments)).hasMetadata)
    }

    @Test(arguments: MovieFixture.all) func `Tags about the encoder are not reported as metadata`(fixture: MovieFixture)
        throws
    {
        #expect(try !inspect(fixture.file(), as: fixture.format).hasMetadata)
    }
}
