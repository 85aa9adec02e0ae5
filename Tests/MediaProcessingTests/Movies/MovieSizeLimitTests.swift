import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@Suite struct MovieSizeLimitTests {
    private static func moving() throws -> URL {
        let arguments =
            "-f lavfi -i testsrc2=s=480x270:r=25:d=4,noise=alls=12:allf=t -f lavfi -i anoisesrc=d=4:a=0.3:r=44100 "
            + "-c:v libx264 -preset veryfast -pix_fmt yuv420p -crf 15 -c:a aac -b:a 128k"
        return try GeneratedMedia.file("moving.mp4", arguments.split(separator: " ").map(String.init))
    }

    @Test(arguments: [1_200_000, 500_000, 250_000])
    func `A movie over its limit is encoded just below it`(_ limit: Int) throws {
        let movie = try RenderedMovie(Self.moving(), format: .mpeg4, bytesMax: limit)
        let bytes = try movie.bytes.count
        #expect(movie.media.attachment?.bytes == bytes)
        #expect(bytes <= limit)
        #expect(bytes >= limit * 85 / 100)
        #expect(!movie.media.reductions.isEmpty)
        #expect(movie.media.warnings.isEmpty)
        #expect(try movie.decodeWarnings() == "")
        #expect(abs((movie.media.attachment?.duration ?? 0) - 4) < 0.05)
    }

    @Test
    func `A movie is cut with a warning when nothing else fits`() throws {
        let movie = try RenderedMovie(Self.moving(), format: .mpeg4, bytesMax: 20_000)
        #expect(try movie.bytes.count <= 20_000)
        #expect(movie.media.warnings.map(\.code) == [.mediaCut])
        #expect((movie.media.attachment?.duration ?? 0) < 3.7)
        #expect(try movie.decodeWarnings() == "")
    }

    @Test
    func `A simple movie is not padded to its limit`() throws {
        let source = try GeneratedMedia.file(
            "plain.mkv", "-f lavfi -i color=blue:s=160x120:r=25:d=2 -c:v ffv1".split(separator: " ").map(String.init))
        let movie = try RenderedMovie(source, format: .matroska, bytesMax: 1_000_000)
        #expect(try movie.bytes.count < 50_000)
        #expect(movie.media.reductions.isEmpty)
    }

    @Test
    func `A movie fits the sides and the frame rate of a display`() throws {
        let source = try GeneratedMedia.file(
            "display.mkv",
            "-f lavfi -i testsrc2=s=1440x810:r=60:d=0.5 -f lavfi -i sine=440:d=0.5 -c:v mpeg4 -q:v 3 -c:a flac"
                .split(separator: " ").map(String.init))
        let movie = try RenderedMovie(source, format: .matroska) {
            $0.longSideMax = 1280
            $0.shortSideMax = 720
            $0.frameRateMax = 30
            $0.audioBitRateMax = 96_000
        }
        #expect(try movie.probe("v", "width,height") == ["width": "1280", "height": "720"])
        #expect(try movie.times().count == 15)
    }

    @Test
    func `A copy over the limit is encoded instead`() throws {
        let movie = try RenderedMovie(Self.moving(), format: .mpeg4, copies: true, bytesMax: 600_000)
        #expect(try movie.bytes.count <= 600_000)
    }
}
