import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

@Suite struct DamagedMediaTests {
    /// What says how long it lasts.
    static let declared = ["faststart.mp4", "xvid.avi", "x264.mkv", "vp9.webm", "wmv2.wmv", "flv1.flv"].compactMap {
        name in
        MovieFixture.all.first { $0.name == name }
    }
    static let declaredSounds = [
        "pcm.wav", "adpcm.wav", "rf64.wav", "pcm.aiff", "constant.mp3", "variable.mp3", "free.flac", "sun.au",
        "sowt.aif", "pack.wv", "sony.w64", "sound.mka", "sound.wma",
    ].compactMap { name in MovieFixture.all.first { $0.name == name } }
    /// What is nothing but frames: the last one is known to be missing, no more.
    static let undeclared = [
        "x264.ts", "mpeg2.mpg", "bare.m2v", "bare.mp3", "layer2.mp2", "raw.aac", "dolby.ac3", "theora.ogv",
        "opus.opus",
    ].compactMap { name in MovieFixture.all.first { $0.name == name } }

    private func code(_ file: URL, as format: MediaFormat? = nil) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try inspect(file, as: format) }?.code
    }

    @Test(arguments: declared + declaredSounds) func `of which more than half is there, it is repairable`(
        fixture: MovieFixture
    ) throws {
        let media = try inspect(GeneratedMedia.cut(fixture.file(), percent: 68), as: fixture.format)
        #expect(media.format == fixture.format)
        #expect((2.5...4.5).contains(media.duration ?? 0))
        #expect(abs((media.damage?.declaredDuration ?? 0) - 5) < 0.3)
    }

    @Test(arguments: declared + declaredSounds) func `of which less than half is there, it is corrupt`(
        fixture: MovieFixture
    ) throws {
        #expect(code(try GeneratedMedia.cut(fixture.file(), percent: 30), as: fixture.format) == .mediaCorrupt)
    }

    @Test(arguments: undeclared) func `what never said how long it lasts has lost a frame`(fixture: MovieFixture) throws
    {
        let media = try inspect(GeneratedMedia.cut(fixture.file(), percent: 62), as: fixture.format)
        #expect((2...4).contains(media.duration ?? 0))
        #expect(abs((media.damage?.declaredDuration ?? 0) - (media.duration ?? 0)) < 0.01)
    }

    @Test(arguments: ["x264.mp4", "sound.mov", "core.caf"]) func `without its index nothing is left`(name: String)
        throws
    {
        let fixture = try #require(MovieFixture.all.first { $0.name == name })
        #expect(code(try GeneratedMedia.cut(fixture.file(), percent: 90), as: fixture.format) == .mediaCorrupt)
    }

    @Test func `a cut file that is protected is protected`() throws {
        let key = "00112233445566778899aabbccddeeff"
        let file = try GeneratedMedia.numbered(
            "cenc.mp4",
            "-t 2 -c:v libx264 -pix_fmt yuv420p -c:a aac -movflags +faststart"
                + " -encryption_scheme cenc-aes-ctr -encryption_key \(key) -encryption_kid \(key)")
        #expect(code(try GeneratedMedia.cut(file, percent: 80)) == .mediaEncrypted)
    }

    @Test(arguments: ["drms", "enca"]) func `protected sound is told by its sample entry`(entry: String) throws {
        let file = try GeneratedMedia.numbered("plain.m4a", "-vn -c:a aac -movflags +faststart")
        var bytes = [UInt8](try Data(contentsOf: file))
        let place = try #require(bytes.firstRange(of: Array("mp4a".utf8)))
        bytes.replaceSubrange(place, with: Array(entry.utf8))
        #expect(code(try GeneratedMedia.file("\(entry).m4a", bytes: bytes), as: .mpeg4Audio) == .mediaEncrypted)
        let cut = bytes.prefix(bytes.count * 3 / 4)
        #expect(code(try GeneratedMedia.file("\(entry)-cut.m4a", bytes: cut), as: .mpeg4Audio) == .mediaEncrypted)
    }

    @Test func `what does not decode at all is not repairable`() throws {
        let file = try MovieFixture.attachableMovies[1].file()
        var bytes = [UInt8](try Data(contentsOf: file))
        let samples = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
        for index in samples..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 13) }
        #expect(code(try GeneratedMedia.file("noise.mp4", bytes: bytes), as: .mpeg4) == .mediaCorrupt)
    }

    @Test func `noise in a keyframe of a large movie is found every time`() throws {
        let arguments =
            "-vf scale=1280:960,noise=alls=20:allf=t -t 1 -c:v libx264 -preset veryfast -pix_fmt yuv420p -g 12"
        var bytes = [UInt8](try Data(contentsOf: GeneratedMedia.numbered("noisy.mp4", arguments + " -bf 3 -an")))
        var noise = SeededNumbers(7)
        // Inside the first keyframe.
        let start = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound + 9_000
        for place in start..<start + 4_096 { bytes[place] = UInt8(truncatingIfNeeded: noise.next()) }
        let file = try GeneratedMedia.file("noise-page.mp4", bytes: bytes)
        let verdicts = (0..<8).map { _ in
            do { return "\(try inspect(file).damage != nil)" } catch { return "\(error)" }
        }
        #expect(!verdicts.contains("false"), "\(verdicts)")
    }

    @Test(arguments: [1, 8, 100_000]) func `a sample box that says too much is no damage`(excess: Int) throws {
        let file = try #require(MovieFixture.attachableMovies.first { $0.name == "faststart.mp4" }).file()
        var bytes = [UInt8](try Data(contentsOf: file))
        let size = try #require(bytes.firstRange(of: Array("mdat".utf8))).lowerBound - 4
        let said = bytes[size..<size + 4].reduce(0) { $0 << 8 | Int($1) }
        bytes.replaceSubrange(size..<size + 4, with: WalkBytes.bigEndian(said + excess, 4))
        let media = try inspect(GeneratedMedia.file("past-end.mp4", bytes: bytes))
        #expect(media.damage == nil && media.containerFault == .mediaDataExceedsFile)
        let cut = try inspect(GeneratedMedia.file("past-end-cut.mp4", bytes: bytes.dropLast(3_000)))
        #expect(cut.damage != nil)
    }

    @Test func `a movie whose pictures are proved says so`() throws {
        #expect(try inspect(MovieFixture.attachableMovies[0].file()).isProved)
    }

    @Test func `a validation without time is left, and the rest is done`() throws {
        try withDescriptor(MovieFixture.attachableMovies[0].file()) { descriptor in
            let deadline = ContinuousClock.now + .seconds(60)
            let movie = try OpenMovie.open(descriptor, format: nil, isRecognized: true, deadline: deadline)
            let budget = ValidationBudget(seconds: -1)
            let packetInspection = try PacketInspection.run(movie, deadline: deadline, validation: budget)
            #expect(budget.isSpent)
            #expect(try abs((packetInspection.times(of: #require(movie.video))?.end ?? 0) - 5) < 0.05)
        }
    }

    @Test(arguments: [
        ("artist.m4a", "-vn -c:a aac -metadata artist=Somebody"),
        ("title.mp3", "-vn -c:a libmp3lame -metadata title=Song"),
        ("comment.ogg", "-vn -c:a libvorbis -metadata comment=Here"),
        ("place.mov", "-t 1 -metadata location=+48.2+016.3/"),
        ("date.mp4", "-t 1 -metadata creation_time=2026-11-01T12:00:00Z"), ("title.mkv", "-t 1 -metadata title=Film"),
    ]) func `tags that tell place, person or work are seen`(name: String, arguments: String) throws {
        #expect(try inspect(GeneratedMedia.numbered(name, arguments)).hasMetadata)
    }

    @Test(arguments: MovieFixture.all) func `what writers say of themselves is no metadata`(fixture: MovieFixture)
        throws
    {
        #expect(try !inspect(fixture.file(), as: fixture.format).hasMetadata)
    }
}
