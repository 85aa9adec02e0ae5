import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@Suite struct AnimationMovieConversionTests {
    private func movie(_ frameSelection: FrameSelection = .animationFrame(0)) throws -> RenderedMovie {
        let source = try GeneratedMedia.file(
            "twelve.gif",
            "-f lavfi -i testsrc2=s=121x90:r=5:d=2.4 -f gif".split(separator: " ").map(String.init))
        return try RenderedMovie(source, format: .gif, frameSelection: frameSelection)
    }

    @Test
    func `Every frame of the animation keeps its time`() throws {
        let movie = try movie()
        let times = try movie.times()
        #expect(times.count == 12)
        for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 5) < 0.001) }
        #expect(movie.media.attachment?.duration == 2.4)
        #expect(try movie.decodeWarnings() == "")
    }

    @Test
    func `The movie is H.264 High with even sides`() throws {
        let video = try movie().probe("v", "codec_name,profile,pix_fmt,width,height")
        #expect(
            video == [
                "codec_name": "h264", "profile": "High", "pix_fmt": "yuv420p", "width": "120", "height": "90",
            ])
    }

    @Test
    func `The time of the requested frame is reported`() throws {
        #expect(try movie(.animationFrame(3)).media.attachmentPosition == .seconds(0.6))
    }
}
