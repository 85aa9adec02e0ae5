import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

@Suite struct MovieInspectionTests {
    private func code(_ file: URL, as format: MediaFormat? = nil) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try inspect(file, as: format) }?.code
    }

    @Test(arguments: MovieFixture.all) func `a whole file passes, is named and lasts five seconds`(
        fixture: MovieFixture
    ) throws {
        let media = try inspect(fixture.file(), as: fixture.format)
        #expect(media.format == fixture.format)
        #expect(abs((media.duration ?? 0) - 5) < 0.12)
        #expect((media.video != nil) == (fixture.format.kind == .movie))
    }

    @Test(arguments: MovieFixture.all) func `without a hint the content decides`(fixture: MovieFixture) throws {
        #expect(try inspect(fixture.file()).format == fixture.format)
    }

    @Test(
        arguments: MovieFixture.attachableMovies + MovieFixture.attachableSounds + MovieFixture.otherSounds,
        [30, 62, 99])
    func `a cut file never passes as whole`(fixture: MovieFixture, percent: Int) throws {
        let file = try GeneratedMedia.cut(fixture.file(), percent: percent)
        do {
            #expect(try inspect(file, as: fixture.format).damage != nil)
        } catch let error as AttachPrepError {
            #expect(error.code == .mediaCorrupt)
        }
    }

    @Test func `a movie's streams are described`() throws {
        let media = try inspect(MovieFixture.attachableMovies[0].file())
        let video = try #require(media.video)
        #expect((media.width, media.height) == (320, 240))
        #expect((video.codec, video.codecTag, video.pixelFormat) == ("h264", "avc1", "yuv420p"))
        #expect((video.bitDepth, video.isChroma420, video.isHDR) == (8, true, false))
        #expect(abs((video.frameRate ?? 0) - 25) < 0.01)
        #expect((video.firstFrameTime, video.lastFrameTime) == (0, 4.96))
        #expect(media.audio.map(\.codec) == ["aac"])
        #expect(media.audio.first?.sampleRate == 44_100)
        #expect(!media.hasCoverArt && !media.hasLocation)
    }

    @Test func `tags of HEVC are told apart, ten bits too`() throws {
        let video = try #require(try inspect(MovieFixture.otherMovies[0].file()).video)
        #expect((video.codecTag, video.bitDepth, video.profile) == ("hev1", 10, "Main 10"))
    }

    @Test func `an anamorphic movie is as wide as it is shown`() throws {
        let media = try inspect(
            GeneratedMedia.numbered("wide.mp4", "-vf setsar=4/3 -t 1 -c:v libx264 -pix_fmt yuv420p"))
        #expect((media.width, media.height) == (427, 240))
        #expect(media.video?.storedWidth == 320)
    }

    @Test func `a ratio of nearly one is square`() throws {
        let media = try inspect(
            GeneratedMedia.numbered("near.mp4", "-vf setsar=201/200 -t 1 -c:v libx264 -pix_fmt yuv420p"))
        #expect(media.width == 320)
        #expect(media.video?.sampleAspectRatio == 1)
    }

    @Test(arguments: Orientation.allCases) func `a movie stands as its track header says`(orientation: Orientation)
        throws
    {
        let media = try inspect(OrientedMovie.file(orientation))
        #expect(media.orientation == orientation)
        #expect(media.width == (orientation.swapsSides ? 240 : 320))
    }

    @Test func `HDR is seen by its transfer`() throws {
        let arguments =
            "-t 1 -pix_fmt yuv420p10le -c:v libx265 -tag:v hvc1 -color_primaries bt2020 -color_trc smpte2084"
            + " -colorspace bt2020nc"
            + " -x265-params log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
        #expect(try inspect(GeneratedMedia.numbered("hdr.mp4", arguments)).video?.isHDR == true)
    }

    @Test func `a place in the metadata is seen`() throws {
        let file = try GeneratedMedia.numbered("place.mp4", "-t 1 -c:v libx264 -metadata location=+48.2+016.3/")
        #expect(try inspect(file).hasLocation)
    }

    @Test func `a movie of one frame is one`() throws {
        let media = try inspect(GeneratedMedia.numbered("one.mp4", "-frames:v 1 -an -c:v libx264 -pix_fmt yuv420p"))
        #expect(media.duration == 0.04)
        #expect(media.video?.lastFrameTime == 0)
    }

    @Test func `an edit list shifts the timeline`() throws {
        let whole = try MovieFixture.attachableMovies[0].file()
        let file = try GeneratedMedia.file(
            "edit.mp4",
            [
                "-itsoffset", "0.5", "-i", whole.path, "-i", whole.path,
                "-map", "0:v", "-map", "1:a", "-c", "copy",
            ])
        let media = try inspect(file)
        #expect(abs((media.video?.firstFrameTime ?? 0) - 0.5) < 0.001)
        #expect(abs((media.duration ?? 0) - 5.5) < 0.01)
    }

    @Test func `the samples are believed, not the header`() throws {
        let file = try MovieFixture.attachableMovies[0].file()
        var bytes = [UInt8](try Data(contentsOf: file))
        let header = try #require(bytes.firstRange(of: Array("mvhd".utf8)))
        bytes.replaceSubrange(header.upperBound + 16..<header.upperBound + 20, with: [0x08, 0, 0, 0])
        #expect(abs((try inspect(GeneratedMedia.file("absurd.mp4", bytes: bytes)).duration ?? 0) - 5) < 0.1)
    }

    @Test(arguments: [MovieFixture.attachableMovies[1], MovieFixture.attachableMovies[8]], [0.4, 0.7])
    func `a hole of zeros, as an unfinished download leaves it, is damage`(fixture: MovieFixture, start: Double) throws
    {
        var bytes = [UInt8](try Data(contentsOf: fixture.file()))
        let hole = Int(Double(bytes.count) * start)..<Int(Double(bytes.count) * (start + 0.2))
        bytes.replaceSubrange(hole, with: [UInt8](repeating: 0, count: hole.count))
        let media = try inspect(GeneratedMedia.file("hole-\(fixture.name)", bytes: bytes))
        #expect(abs((media.damage?.declaredDuration ?? 0) - 5) < 0.1)
    }

    @Test func `a hole over more than half is corrupt`() throws {
        var bytes = [UInt8](try Data(contentsOf: MovieFixture.attachableMovies[1].file()))
        let hole = bytes.count * 3 / 10..<bytes.count * 95 / 100
        bytes.replaceSubrange(hole, with: [UInt8](repeating: 0, count: hole.count))
        #expect(code(try GeneratedMedia.file("hole.mp4", bytes: bytes)) == .mediaCorrupt)
    }

    @Test func `protected samples are named as such`() throws {
        let key = "00112233445566778899aabbccddeeff"
        let file = try GeneratedMedia.numbered(
            "cenc.mp4",
            "-t 1 -c:v libx264 -pix_fmt yuv420p -c:a aac"
                + " -encryption_scheme cenc-aes-ctr -encryption_key \(key) -encryption_kid \(key)")
        #expect(code(file) == .mediaEncrypted)
    }

    @Test func `text, playlists and nothing are not movies`() throws {
        #expect(code(try GeneratedMedia.file("a.txt", bytes: Array("hello, world".utf8))) == .mediaUnrecognized)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
        #expect(code(try GeneratedMedia.file("a.m3u8", bytes: Array(playlist.utf8))) == .mediaUnrecognized)
        #expect(code(try GeneratedMedia.file("empty.mp4", bytes: [])) == .mediaEmpty)
    }

    @Test func `more pixels than 8K are refused before they are decoded`() throws {
        let file = try GeneratedMedia.file(
            "huge.mov", ["-f", "lavfi", "-i", "color=s=8192x8192:d=0.04", "-c:v", "png", "-frames:v", "1"])
        #expect(code(file) == .mediaTooManyPixels)
    }

    @Test func `a deadline in the past ends at once`() throws {
        let file = try MovieFixture.attachableMovies[0].file()
        let error = #expect(throws: AttachPrepError.self) {
            try withDescriptor(file) { try MovieInspection.inspect(descriptor: $0, format: nil, deadline: .now) }
        }
        #expect(error?.code == .deadlineExceeded)
    }
}
