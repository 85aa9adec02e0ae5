import AttachPrepModel
import Foundation
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@testable import MediaEngine

@Suite struct FrameExtractorTests {
    private static let movies = (MovieFixture.attachableMovies + MovieFixture.otherMovies)

    @Test(arguments: movies, [0, 1, 24, 25, 26, 63, 99, 124])
    func `The time of a frame gives that frame`(fixture: MovieFixture, number: Int) throws {
        let file = try fixture.file()
        let first = try #require(try inspect(file).video).firstFrameTime
        let found = try frame(file, at: first + Double(number) / 25 + 0.002)
        #expect(found.number == number)
        #expect(abs((found.frame.time ?? -1) - first - Double(number) / 25) < 0.002)
    }

    @Test(arguments: movies)
    func `A time before the start gives the first frame, and one past the end the last`(fixture: MovieFixture) throws {
        let file = try fixture.file()
        #expect(try frame(file, at: -3).number == 0)
        #expect(try frame(file, at: 1000).number == 124)
    }

    @Test func `A rounded decimal time gives the exact frame`() throws {
        let file = try GeneratedMedia.numbered("ntsc.mp4", "-r 30000/1001 -c:v libx264 -pix_fmt yuv420p -bf 3 -an")
        for number in [1, 7, 33, 100] {
            let time = (Double(number) * 1001 / 30000 * 1e6).rounded() / 1e6
            #expect(abs((try frame(file, at: time).frame.time ?? 0) - Double(number) * 1001 / 30000) < 1e-6)
        }
    }

    @Test func `A frame is shown until the next one at a variable frame rate`() throws {
        let file = try GeneratedMedia.numbered(
            "variable.mp4", "-vf select='not(mod(n,7))' -vsync vfr -c:v libx264 -pix_fmt yuv420p -bf 3 -g 5 -an")
        for (time, number) in [(0.27, 0), (0.28, 7), (1.0, 21), (1.12, 28), (1.39, 28)] {
            #expect(try frame(file, at: time).number == number)
        }
    }

    @Test func `Frames before the start of an edit list are not shown`() throws {
        let source = try MovieFixture.attachableMovies[0].file()
        let file = try GeneratedMedia.file("into.mp4", ["-ss", "1.4", "-i", source.path, "-c", "copy"])
        #expect(try frame(file, at: 0).number == 35)
        #expect(try frame(file, at: 1).number == 60)
    }

    @Test func `Wrong keyframe flags do not lead to a wrong frame`() throws {
        let file = try GeneratedMedia.numbered("every.mkv", "-an -c:v h263p -q:v 2")
        #expect(try frame(file, at: 1).number == 25)
    }

    @Test func `A frame can be reduced while it is decoded`() throws {
        let small = try frame(MovieFixture.attachableMovies[0].file(), at: 1, largestSide: 60)
        #expect((small.frame.width, small.frame.height) == (120, 90))
        #expect(small.number == 25)
    }

    @Test func `Orientation is reported, not applied`() throws {
        let rotated = try frame(OrientedMovie.file(.rotated90), at: 0)
        #expect(rotated.frame.orientation == .rotated90)
        #expect(rotated.frame.width == 320)
    }

    @Test(arguments: ["bt709", "smpte170m"], ["tv", "pc"]) func `The color matrix and range are applied`(
        matrix: String, range: String
    ) throws {
        let filter = "scale=out_color_matrix=\(matrix == "bt709" ? "bt709" : "bt601"):out_range=\(range),format=yuv444p"
        let file = try GeneratedMedia.file(
            "color.mp4",
            [
                "-f", "lavfi", "-i", "color=0x30C060:s=64x64:d=0.2", "-vf", filter, "-c:v", "libx264", "-qp", "1",
                "-colorspace", matrix, "-color_range", range,
            ])
        let pixel = try frame(file, at: 0).frame.bytes.prefix(3).map(Int.init)
        #expect(zip(pixel, [0x30, 0xC0, 0x60]).allSatisfy { abs($0 - $1) <= 3 })
    }

    @Test func `Alpha is preserved`() throws {
        let file = try GeneratedMedia.file(
            "alpha.mov", ["-f", "lavfi", "-i", "color=red@0.5:s=32x32:d=0.1,format=rgba", "-c:v", "qtrle"])
        let decoded = try frame(file, at: 0).frame
        #expect(decoded.bands == 4)
        #expect((120...135).contains(decoded.bytes[3]))
    }

    @Test func `An HDR frame is tone mapped to SDR`() throws {
        let arguments =
            "-t 0.2 -pix_fmt yuv420p10le -c:v libx265 -tag:v hvc1 -color_primaries bt2020 -color_trc smpte2084"
            + " -colorspace bt2020nc"
            + " -x265-params log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
        let decoded = try frame(GeneratedMedia.numbered("hdrframe.mp4", arguments), at: 0).frame
        // The right quarter is half gray: 93 nits as PQ, which is about 175 of 255 below a white of 203 nits.
        let gray = Int(decoded.bytes[(120 * 320 + 300) * 3])
        #expect((150...200).contains(gray))
    }

    @Test func `A file without video is unsupported`() throws {
        let error = #expect(throws: AttachPrepError.self) { try frame(MovieFixture.attachableAudio[0].file(), at: 0) }
        #expect(error?.code == .mediaUnsupported)
    }
}
