import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// The frame that represents a movie or an animation.
struct RepresentativeFrameTests {
    private static func score(_ pixel: (Int, Int) -> (Int, Int, Int)) -> Double {
        let (width, height) = (160, 90)
        let pixels = (0..<(width * height)).flatMap { index -> [UInt8] in
            let (red, green, blue) = pixel(index % width, index / width)
            return [red, green, blue].map { UInt8(min(255, max(0, $0))) }
        }
        return FrameScore(pixels: pixels, width: width, height: height, bands: 3).value
    }

    /// Areas, edges and grain of many colors.
    private static func scene(_ x: Int, _ y: Int) -> (Int, Int, Int) {
        let grain = (x * 7919 + y * 104_729) % 23
        let tile = (x / 20 * 5 + y / 18 * 3) % 7
        return (20 + tile * 32 + grain, 10 + tile * 28 + grain / 2, 40 + (tile * 53) % 160 + x / 3)
    }

    @Test func `A detailed frame scores above black, white, blank, faded and blurred ones`() {
        let detailed = Self.score(Self.scene)
        let faded = Self.score { x, y in
            let (red, green, blue) = Self.scene(x, y)
            return (red / 6, green / 6, blue / 6)
        }
        let light = Self.score { x, y in
            let (red, green, blue) = Self.scene(x, y)
            return (215 + red / 7, 215 + green / 7, 215 + blue / 7)
        }
        let blurred = Self.score { x, y in (60 + x, 60 + y, 200 - x) }
        #expect(detailed > FrameScore.good)
        for (name, poor) in [("faded", faded), ("light", light), ("blurred", blurred)] {
            #expect(detailed > poor * 1.5, "\(name) \(poor) against \(detailed)")
        }
        #expect(Self.score { _, _ in (4, 4, 4) } == 0)
        #expect(Self.score { _, _ in (255, 255, 255) } == 0)
        #expect(Self.score { _, _ in (90, 160, 200) } == 0)
        // A logo on black.
        #expect(
            detailed
                > Self.score { x, y in
                    (70..<90).contains(x) && (40..<50).contains(y) ? (250, 250, 250) : (0, 0, 0)
                } * 2)
    }

    private static func rendered(_ file: URL, _ format: MediaFormat = .mpeg4) throws -> (
        seconds: Double, still: RenderedStill
    ) {
        var request = RenderRequest(format: format, frameSelection: .representative)
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        let still = try RenderedStill(file.path, request)
        guard case .seconds(let seconds) = still.media.sourcePosition else {
            throw GeneratedMedia.FixtureError(description: "\(still.media)")
        }
        return (seconds, still)
    }

    /// Black, then detailed frames from 3.0 to 4.2 s, then white; `keys` is the keyframe interval.
    private static func movie(_ name: String, keys: Int, filter: String = "null") throws -> URL {
        try GeneratedMedia.file(
            name,
            [
                "-f", "lavfi", "-i", "color=black:s=320x240:r=25:d=6", "-f", "lavfi", "-i",
                "testsrc2=s=320x240:r=25:d=6",
                "-f", "lavfi", "-i", "color=white:s=320x240:r=25:d=6", "-filter_complex",
                "[0][1]overlay=enable='between(t,3,4.2)'[a];[a][2]overlay=enable='gt(t,4.2)',\(filter)",
                "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-g", "\(keys)", "-sc_threshold", "0",
                "-bf", "2",
            ])
    }

    @Test(arguments: [10, 250])
    func `The only detailed second of a movie is found with frequent and rare keyframes`(keys: Int) throws {
        let found = try Self.rendered(Self.movie("second\(keys).mp4", keys: keys))
        #expect((3.0...4.2).contains(found.seconds), "\(found.seconds)")
        let shown = try found.still.image(.thumbnail)
        #expect(shown.width == 300 && shown.height == 225)
        let exact = try TestImage(
            decoding: Self.movie("second\(keys).mp4", keys: keys).path, frame: Int((found.seconds * 25).rounded()))
        #expect(ImageDistance(shown, exact).mean < 4)
    }

    @Test func `A frame near the end of a fade-in is chosen`() throws {
        let file = try GeneratedMedia.file(
            "fade.mp4",
            [
                "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=5", "-vf", "fade=in:0:75", "-c:v", "libx264",
                "-preset", "veryfast", "-pix_fmt", "yuv420p", "-g", "12",
            ])
        #expect(try Self.rendered(file).seconds >= 2.4)
    }

    @Test func `A blurred half is skipped`() throws {
        let file = try GeneratedMedia.file(
            "blur.mp4",
            [
                "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4", "-vf", "gblur=sigma=12:enable='lt(t,2)'", "-c:v",
                "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-g", "12",
            ])
        #expect(try Self.rendered(file).seconds >= 2)
    }

    @Test(arguments: MovieFixture.attachableMovies)
    func `Every movie has a representative frame`(fixture: MovieFixture) throws {
        let found = try Self.rendered(fixture.file(), fixture.format)
        #expect((-0.1...5.1).contains(found.seconds))
        #expect(found.still.media.thumbnail != nil)
    }

    @Test func `An entirely black movie still gives a thumbnail`() throws {
        let file = try GeneratedMedia.file(
            "black.mp4", ["-f", "lavfi", "-i", "color=black:s=160x120:r=25:d=2", "-pix_fmt", "yuv420p"])
        #expect(try Self.rendered(file).still.media.thumbnail != nil)
    }

    @Test func `The representative frame of an animation is not a blank one`() throws {
        let file = try GeneratedMedia.file(
            "late.gif",
            [
                "-f", "lavfi", "-i", "color=black:s=160x120:r=10:d=2", "-f", "lavfi", "-i",
                "testsrc2=s=160x120:r=10:d=2", "-filter_complex", "[0][1]overlay=enable='gt(t,1.25)'",
            ])
        var request = RenderRequest(format: .gif, frameSelection: .representative)
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        let still = try RenderedStill(file.path, request)
        guard case .frame(let number) = still.media.sourcePosition else {
            throw GeneratedMedia.FixtureError(description: "\(still.media)")
        }
        #expect(number >= 13)
    }
}
