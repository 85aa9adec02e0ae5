import Foundation
import MediaEngine
import MediaLibraries
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

@Suite struct MovieEncodingTests {
    static let foreign =
        MovieFixture.otherMovies
        + [
            MovieFixture("old.avi", .avi, "-c:v msmpeg4 -q:v 3 -c:a pcm_s16le"),
            MovieFixture("ordered.avi", .avi, "-c:v mpeg4 -bf 2 -g 25 -q:v 3 -c:a libmp3lame"),
            MovieFixture("motion.mpg", .mpegProgramStream, "-c:v mpeg2video -bf 2 -g 15 -q:v 3 -c:a mp2 -f vob"),
            MovieFixture("full.mkv", .matroska, "-c:v libx264 -preset veryfast -pix_fmt yuvj420p -c:a flac"),
        ]

    @Test(arguments: foreign)
    func `Other codecs become H.264 and AAC with every frame at its time`(_ fixture: MovieFixture) throws {
        let source = try fixture.file()
        let movie = try RenderedMovie(fixture)
        let video = try movie.probe("v", "codec_name,profile,pix_fmt,sample_aspect_ratio,color_range")
        #expect(video["codec_name"] == "h264")
        #expect(video["profile"] == "High")
        #expect(video["pix_fmt"] == "yuv420p")
        #expect(video["color_range"] == "tv")
        #expect(try movie.decodeWarnings() == "")
        let media = try inspect(source)
        if !media.audio.isEmpty { #expect(try movie.probe("a", "codec_name") == ["codec_name": "aac"]) }
        let length = try #require(media.duration)
        #expect(abs(length - (movie.media.attachment?.duration ?? 0)) < 0.05)
        for time in [0.5, 2.02, 4.5] where time < length {
            #expect(try frame(movie.file, at: time).number == frame(source, at: time).number, "at \(time)")
        }
    }

    @Test(arguments: Orientation.allCases)
    func `Every orientation is rotated upright`(_ orientation: Orientation) throws {
        let source = try OrientedMovie.file(orientation)
        let movie = try RenderedMovie(source, format: .mpeg4)
        let stored = try frame(source, at: 0.5).frame
        let shown = try frame(movie.file, at: 0.5).frame
        #expect(shown.orientation == .upright)
        #expect((shown.width > shown.height) == !orientation.swapsSides)
        for (x, y) in [(0.05, 0.1), (0.3, 0.9), (0.9, 0.2), (0.6, 0.5)] {
            let origin = try orientation.storedRect(ofUpright: ClippingRect(x: x, y: y, width: 0.001, height: 0.001))
            #expect(abs(shown.luma(x, y) - stored.luma(origin.x, origin.y)) < 40, "at \(x), \(y)")
        }
    }

    @Test
    func `Anamorphic video is scaled to square pixels`() throws {
        let source = try GeneratedMedia.numbered("wide.mkv", "-t 1 -an -vf setsar=4/3 -c:v ffv1")
        let movie = try RenderedMovie(source, format: .matroska)
        #expect(
            try movie.probe("v", "width,height,sample_aspect_ratio")
                == ["width": "426", "height": "240", "sample_aspect_ratio": "1:1"])
    }

    @Test
    func `Odd sides are rounded to even ones`() throws {
        let source = try GeneratedMedia.numbered(
            "odd.mkv", "-t 1 -an -vf scale=321:241,format=yuv444p -c:v ffv1")
        let movie = try RenderedMovie(source, format: .matroska)
        #expect(try movie.probe("v", "width,height").values.compactMap { Int($0) }.allSatisfy { $0 % 2 == 0 })
        #expect(movie.media.attachment?.width == 322 || movie.media.attachment?.width == 320)
    }

    @Test(arguments: ["smpte2084", "arib-std-b67"])
    func `Encoded HDR video looks like its extracted frame`(_ transfer: String) throws {
        let source = try GeneratedMedia.file(
            "\(transfer).mkv",
            "-f lavfi -i testsrc2=s=320x240:r=10:d=0.5 -c:v libx265 -x265-params log-level=none -pix_fmt yuv420p10le"
                .split(separator: " ").map(String.init)
                + ["-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc"])
        let movie = try RenderedMovie(source, format: .matroska)
        #expect(try movie.probe("v", "color_transfer,color_space,color_primaries").values.allSatisfy { $0 == "bt709" })
        let (still, shown) = try (frame(source, at: 0).frame, frame(movie.file, at: 0).frame)
        let distance = zip(still.bytes, shown.bytes).map { abs(Int($0) - Int($1)) }.reduce(0, +)
        #expect(Double(distance) / Double(still.bytes.count) < 5)
    }

    @Test
    func `Interlaced video is deinterlaced`() throws {
        let source = try GeneratedMedia.file(
            "combed.mkv",
            "-f lavfi -i testsrc2=s=320x240:r=50:d=1 -vf interlace=scan=tff:lowpass=off -flags +ildct+ilme"
                .split(separator: " ").map(String.init)
                + ["-c:v", "mpeg2video", "-q:v", "2"])
        let movie = try RenderedMovie(source, format: .matroska)
        let (before, after) = try (frame(source, at: 0.2).frame, frame(movie.file, at: 0.2).frame)
        #expect(after.combing * 2 < before.combing)
    }

    @Test
    func `Uneven frame times are preserved`() throws {
        let source = try GeneratedMedia.numbered(
            "uneven.mkv", "-an -vf select='not(mod(n,3))+eq(mod(n,7),1)' -vsync vfr -c:v ffv1")
        let movie = try RenderedMovie(source, format: .matroska)
        let (before, after) = try (MovieProbe.times(source), movie.times())
        #expect(before.count == after.count)
        for (one, other) in zip(before, after) { #expect(abs(one - other) < 0.002) }
    }

    @Test
    func `The frame rate is limited to 60 frames per second`() throws {
        let source = try GeneratedMedia.file(
            "fast.mkv", "-f lavfi -i testsrc2=s=64x64:r=120:d=1 -c:v ffv1".split(separator: " ").map(String.init))
        #expect(try RenderedMovie(source, format: .matroska).times().count == 60)
    }

    @Test
    func `A movie of one frame is encoded as a movie`() throws {
        let source = try GeneratedMedia.numbered("single.mkv", "-an -frames:v 1 -c:v ffv1")
        let movie = try RenderedMovie(source, format: .matroska)
        #expect(try movie.times() == [0])
        #expect(try movie.decodeWarnings() == "")
    }

    @Test
    func `A gap of hours between frames is closed`() throws {
        let source = try GeneratedMedia.numbered(
            "gap.mkv", "-an -frames:v 50 -vf setpts='PTS+gte(N,25)*7200/TB' -vsync passthrough -c:v ffv1")
        let movie = try RenderedMovie(source, format: .matroska)
        let times = try movie.times()
        #expect(times.count == 50)
        #expect((times.last ?? 0) < 4)
    }

    @Test(arguments: ["flash.mkv", "flash.ts", "flash.avi", "flash.mov", "flash.webm", "flash.wmv", "flash.flv"])
    func `Audio and video stay in sync`(_ name: String) throws {
        let source = try GeneratedMedia.flash(name)
        let (before, after) = try (
            MovieProbe.onsets(source), MovieProbe.onsets(RenderedMovie(source, format: .matroska).file)
        )
        let drift = (after.audio - after.video) - (before.audio - before.video)
        #expect(abs(drift) < 0.04, "\(before) became \(after)")
    }

    @Test
    func `The time of the requested frame is reported`() throws {
        let source = try GeneratedMedia.numbered("position.mkv", "-t 2 -an -c:v ffv1")
        let inside = try RenderedMovie(source, format: .matroska, frameSelection: .movieTime(1.2))
        #expect(inside.media.attachmentPosition == .seconds(1.2))
        let past = try RenderedMovie(source, format: .matroska, frameSelection: .movieTime(9))
        #expect(past.media.attachmentPosition == .seconds(2))
    }

    @Test
    func `A truncated movie is encoded as far as it can be read`() throws {
        let complete = try GeneratedMedia.numbered("whole.mkv", "-c:v libx264 -preset veryfast -bf 2 -c:a aac")
        let source = try GeneratedMedia.cut(complete, percent: 70)
        let movie = try RenderedMovie(source, format: .matroska) { $0.isRepair = true }
        #expect(movie.media.warnings.map(\.code) == [.mediaRepaired])
        #expect(try movie.decodeWarnings() == "")
        #expect((60...100).contains(try movie.times().count))
    }
}

extension DecodedFrame {
    /// The green value at a position from 0 to 1.
    fileprivate func luma(_ x: Double, _ y: Double) -> Int {
        let (column, row) = (min(width - 1, Int(x * Double(width))), min(height - 1, Int(y * Double(height))))
        return Int(bytes[(row * width + column) * bands + 1])
    }

    /// How much rows differ from adjacent rows but not from the rows after those.
    fileprivate var combing: Int {
        (1..<height - 1).reduce(0) { sum, y in
            (0..<width).reduce(sum) { sum, x in
                func green(_ row: Int) -> Int { Int(bytes[(row * width + x) * bands + 1]) }
                return sum
                    + max(0, abs(green(y) * 2 - green(y - 1) - green(y + 1)) - 2 * abs(green(y - 1) - green(y + 1)))
            }
        }
    }
}

extension GeneratedMedia {
    /// Two seconds of black and silence, in which a flash and a beep begin together at 1 s.
    static func flash(_ name: String) throws -> URL {
        let codecs =
            switch name.split(separator: ".").last {
            case "webm": "-c:v libvpx -b:v 200k -c:a libopus"
            case "avi": "-c:v mpeg4 -bf 2 -c:a libmp3lame"
            case "wmv": "-c:v wmv2 -c:a wmav2"
            case "flv": "-c:v flv1 -ar 44100 -c:a libmp3lame"
            case "mov": "-c:v prores_ks -c:a pcm_s16le"
            default: "-c:v libx264 -preset veryfast -bf 2 -c:a aac"
            }
        return try file(
            name,
            [
                "-f", "lavfi", "-i", "color=black:s=160x120:r=25:d=2,drawbox=c=white:t=fill:enable='gte(t,1)'",
                "-f", "lavfi", "-i", "sine=1000:d=2:r=48000,volume='if(gte(t,1),4,0)':eval=frame",
            ] + codecs.split(separator: " ").map(String.init))
    }
}
