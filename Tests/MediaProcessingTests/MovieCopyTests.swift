import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

@Suite struct `Movies whose streams fit` {
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
    func `are copied picture by picture, at the same times`(_ fixture: MovieFixture) throws {
        let source = try fixture.file()
        let movie = try RenderedMovie(fixture, copies: true)
        #expect(try MovieProbe.pictures(movie.file) == MovieProbe.pictures(source))
        #expect(try movie.complaints() == "")
        let (before, after) = try (MovieProbe.times(source), movie.times())
        let offset = before[0] - after[0]
        #expect(before.count == after.count)
        for (one, other) in zip(before, after) { #expect(abs(one - offset - other) < 0.0011) }
    }

    @Test
    func `keep their sound's packets`() throws {
        let source = try Self.fitting[0].file()
        let movie = try RenderedMovie(Self.fitting[0], copies: true)
        #expect(try MovieProbe.soundPackets(movie.file) == MovieProbe.soundPackets(source))
    }

    @Test
    func `have their index in front, and nothing of what the source tells about itself`() throws {
        let source = try GeneratedMedia.numbered(
            "told.mov",
            "\(Self.h264) -c:a aac -metadata title=Secret -metadata location=+48.85+002.35/ "
                + "-metadata creation_time=2020-01-02T03:04:05")
        let bytes = try RenderedMovie(source, copies: true).bytes
        let index = try #require(bytes.firstRange(of: Array("moov".utf8)))
        let samples = try #require(bytes.firstRange(of: Array("mdat".utf8)))
        #expect(index.lowerBound < samples.lowerBound)
        for word in ["Secret", "+48.85", "Lavf"] {
            #expect(bytes.firstRange(of: Array(word.utf8)) == nil, "\(word)")
        }
    }

    @Test
    func `are the same bytes each time`() throws {
        let fixture = Self.fitting[1]
        #expect(try RenderedMovie(fixture, copies: true).bytes == RenderedMovie(fixture, copies: true).bytes)
    }

    @Test
    func `of HEVC are tagged as iOS wants it`() throws {
        let fixture = MovieFixture(
            "tagged.mp4", .mpeg4,
            "-t 1 -c:v libx265 -x265-params log-level=none -tag:v hev1 -pix_fmt yuv420p -an")
        let movie = try RenderedMovie(fixture, copies: true)
        #expect(try movie.probe("v", "codec_tag_string") == ["codec_tag_string": "hvc1"])
        #expect(try movie.complaints() == "")
    }

    @Test
    func `keep the way they are turned`() throws {
        let movie = try RenderedMovie(OrientedMovie.file(.rotated90), format: .mpeg4, copies: true)
        #expect(try inspect(movie.file).orientation == .rotated90)
        #expect(movie.media.attachment?.width == 240)
        #expect(movie.media.attachment?.height == 320)
    }

    @Test
    func `keep their pictures where only the sound does not fit`() throws {
        let fixture = MovieFixture("opus.mkv", .matroska, "\(Self.h264) -c:a libopus")
        let source = try fixture.file()
        let movie = try RenderedMovie(source, format: .matroska) { $0.copiesVideo = true }
        #expect(try MovieProbe.pictures(movie.file) == MovieProbe.pictures(source))
        #expect(try movie.probe("a", "codec_name") == ["codec_name": "aac"])
    }

    @Test
    func `keep their sound where only the pictures do not fit`() throws {
        let fixture = MovieFixture("prores-aac.mov", .quickTime, "-t 1 -c:v prores_ks -c:a aac")
        let source = try fixture.file()
        let movie = try RenderedMovie(source, format: .quickTime) { $0.copiesAudio = true }
        #expect(try MovieProbe.soundPackets(movie.file) == MovieProbe.soundPackets(source))
        #expect(try movie.probe("v", "codec_name") == ["codec_name": "h264"])
    }

    @Test
    func `lose covers, subtitles and further tracks`() throws {
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
    func `with an edit list show what it shows`() throws {
        let whole = try GeneratedMedia.numbered("whole.mov", "\(Self.h264) -c:a aac")
        let source = try GeneratedMedia.file("edited.mov", ["-ss", "1.3", "-i", whole.path, "-c", "copy"])
        let movie = try RenderedMovie(source, copies: true)
        for time in [0.02, 1.5, 3] {
            #expect(try frame(movie.file, at: time).number == frame(source, at: time).number)
        }
    }
}
