import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@Suite struct MovieCopyTests {
    private static let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 25 -bf 3"
    static let fitting = [
        MovieFixture("fits.mov", .quickTime, "\(h264) -c:a aac"),
        MovieFixture("fits.mkv", .matroska, "\(h264) -c:a aac"),
        MovieFixture("fits.ts", .mpegTransportStream, "\(h264) -c:a aac"),
        MovieFixture("fits.flv", .flashVideo, "\(h264) -c:a aac"),
        MovieFixture("fits.3gp", .threeGPP, "\(h264) -ac 1 -c:a aac"),
        MovieFixture("alac.mov", .quickTime, "\(h264) -c:a alac"),
        MovieFixture("mp3.mkv", .matroska, "\(h264) -c:a libmp3lame"),
        MovieFixture("ac3.mkv", .matroska, "\(h264) -c:a ac3"),
        MovieFixture("open.mkv", .matroska, "\(h264) -x264-params open-gop=1:b-pyramid=normal -an"),
    ]

    @Test(arguments: fitting)
    func `Video that fits is copied with the same frames and times`(_ fixture: MovieFixture) throws {
        let source = try fixture.file()
        let movie = try RenderedMovie(fixture, copies: true)
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(source))
        #expect(try movie.decodeWarnings() == "")
        let (before, after) = try (MovieProbe.times(source), movie.times())
        let offset = before[0] - after[0]
        #expect(before.count == after.count)
        for (one, other) in zip(before, after) { #expect(abs(one - offset - other) < 0.0011) }
    }

    @Test
    func `Audio that fits is copied packet by packet`() throws {
        let source = try Self.fitting[0].file()
        let movie = try RenderedMovie(Self.fitting[0], copies: true)
        #expect(try MovieProbe.audioDigest(movie.file) == MovieProbe.audioDigest(source))
    }

    @Test
    func `A copy has its index in front and no metadata of the source`() throws {
        let source = try GeneratedMedia.numbered(
            "metadata.mov",
            "\(Self.h264) -c:a aac -metadata title=Secret -metadata location=+48.85+002.35/ "
                + "-metadata creation_time=2020-01-02T03:04:05")
        let bytes = try RenderedMovie(source, copies: true).bytes
        let index = try #require(bytes.firstRange(of: Array("moov".utf8)))
        let samples = try #require(bytes.firstRange(of: Array("mdat".utf8)))
        #expect(index.lowerBound < samples.lowerBound)
        for text in ["Secret", "+48.85", "Lavf"] {
            #expect(bytes.firstRange(of: Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test
    func `Copying the same source twice gives the same bytes`() throws {
        let fixture = Self.fitting[1]
        #expect(try RenderedMovie(fixture, copies: true).bytes == RenderedMovie(fixture, copies: true).bytes)
    }

    @Test
    func `HEVC is tagged hvc1`() throws {
        let fixture = MovieFixture(
            "tagged.mp4", .mpeg4,
            "-t 1 -c:v libx265 -x265-params log-level=none -tag:v hev1 -pix_fmt yuv420p -an")
        let movie = try RenderedMovie(fixture, copies: true)
        #expect(try movie.probe("v", "codec_tag_string") == ["codec_tag_string": "hvc1"])
        #expect(try movie.decodeWarnings() == "")
    }

    @Test
    func `A copy keeps its orientation`() throws {
        let movie = try RenderedMovie(OrientedMovie.file(.rotated90), format: .mpeg4, copies: true)
        #expect(try inspect(movie.file).orientation == .rotated90)
        #expect(movie.media.attachment?.width == 240)
        #expect(movie.media.attachment?.height == 320)
    }

    @Test
    func `Video is copied when only the audio must be encoded`() throws {
        let fixture = MovieFixture("opus.mkv", .matroska, "\(Self.h264) -c:a libopus")
        let source = try fixture.file()
        let movie = try RenderedMovie(source, format: .matroska) { $0.copiesVideo = true }
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(source))
        #expect(try movie.probe("a", "codec_name") == ["codec_name": "aac"])
    }

    @Test
    func `Audio is copied when only the video must be encoded`() throws {
        let fixture = MovieFixture("prores-aac.mov", .quickTime, "-t 1 -c:v prores_ks -c:a aac")
        let source = try fixture.file()
        let movie = try RenderedMovie(source, format: .quickTime) { $0.copiesAudio = true }
        #expect(try MovieProbe.audioDigest(movie.file) == MovieProbe.audioDigest(source))
        #expect(try movie.probe("v", "codec_name") == ["codec_name": "h264"])
    }

    @Test
    func `Cover art and additional tracks are dropped`() throws {
        let cover = try GeneratedMedia.file("cover.png", ["-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1"])
        let source = try GeneratedMedia.file(
            "tracks.mov",
            ["-i", GeneratedMedia.numbered().path, "-i", cover.path, "-map", "1", "-map", "0:v", "-map", "0:a"]
                + ("-map 0:a -disposition:v:0 attached_pic -c:v:0 png -c:v:1 libx264 -pix_fmt:v:1 yuv420p "
                + "-c:a aac -f mp4").split(separator: " ").map(String.init))
        let movie = try RenderedMovie(source, format: .mpeg4, copies: true)
        let streams = try GeneratedMedia.run(
            "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", movie.file.path])
        #expect(String(decoding: streams, as: UTF8.self).split(separator: "\n") == ["h264", "aac"])
    }

    @Test
    func `A copy shows the frames that the source's edit list shows`() throws {
        let complete = try GeneratedMedia.numbered("whole.mov", "\(Self.h264) -c:a aac")
        let source = try GeneratedMedia.file("edited.mov", ["-ss", "1.3", "-i", complete.path, "-c", "copy"])
        let movie = try RenderedMovie(source, copies: true)
        for time in [0.02, 1.5, 3] {
            #expect(try frame(movie.file, at: time).number == frame(source, at: time).number)
        }
    }
}
