import AttachPrep
import AttachPrepModel
import MediaEngine
import MediaTypes
import Testing

/// The display rendition: what a notification can show and a phone can fetch.
struct DisplayRenditionTests {
    /// Bytes that a phone on 3G fetches in 8 s, of which half a second is reserved for the other files.
    private let fetchableBytes = 1_440_000

    private func plan(_ media: InspectedMedia, bytes: Int) -> PreparationPlan {
        var request = AttachmentRequest(source: "https://cdn.example/a")
        request.rendition = .display
        return PreparationPlan(media: media, bytes: bytes, request: request)
    }

    private func image(_ width: Int, _ height: Int, frames: Int = 1) -> InspectedMedia {
        var media = InspectedMedia(format: frames > 1 ? .gif : .jpeg)
        (media.width, media.height, media.frames) = (width, height, frames)
        return media
    }

    private func movie(_ width: Int, _ height: Int, rate: Double = 30) -> InspectedMedia {
        var media = InspectedMedia(format: .mpeg4)
        (media.width, media.height, media.duration) = (width, height, 10)
        var video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: width, storedHeight: height)
        video.frameRate = rate
        (video.profile, video.pixelFormat) = ("High", "yuv420p")
        media.video = video
        media.audio = [AudioStream(codec: "aac", channels: 2, sampleRate: 48_000, bitRate: 64_000)]
        return media
    }

    @Test func `Media within the display limits is delivered unchanged`() {
        #expect(plan(image(1280, 720), bytes: 400_000).outcome == .passed)
        #expect(plan(image(480, 480, frames: 9), bytes: 400_000).outcome == .passed)
        #expect(plan(movie(720, 1280), bytes: 1_000_000).outcome == .passed)
    }

    @Test func `A large image is reduced to display size, never to more bytes than its source`() {
        let plan = plan(image(4000, 3000), bytes: 900_000)
        #expect(plan.outcome == .shrunk)
        #expect(plan.images?.attachment == .still(StillRendition(bytesMax: 900_000, longSideMax: 1280)))
    }

    @Test func `A movie converted for display stays within its source size where possible`() {
        var media = movie(640, 360)
        media.format = .webm
        media.video?.codec = "vp9"
        let plan = plan(media, bytes: 9_000)
        #expect(plan.conversion?.attachment?.bytesMax == 9_000 && plan.relaxedBytesMax == fetchableBytes)
    }

    @Test(arguments: [(64_000, true), (128_000, false)])
    func `The bit rate of an MP3 is that of its audio, not of its tags`(rate: Int, isUnchanged: Bool) {
        var media = InspectedMedia(format: .mp3)
        media.duration = 60
        media.audio = [AudioStream(codec: "mp3", channels: 2, sampleRate: 44_100, bitRate: rate)]
        #expect((plan(media, bytes: 60 * rate / 8 + 900_000).outcome == .passed) == isUnchanged)
        media.hasCoverArt = true
        // Its tags are removed; the audio is copied.
        guard case .audio(let rendition) = plan(media, bytes: 60 * rate / 8 + 900_000).conversion?.attachment else {
            Issue.record("no audio is written")
            return
        }
        #expect(rendition.copies == isUnchanged)
    }

    @Test func `An image in a more efficient format may grow`() {
        var media = image(800, 600)
        media.format = .avif
        let plan = plan(media, bytes: 9_000)
        #expect(plan.images?.attachment == .still(StillRendition(bytesMax: fetchableBytes, longSideMax: 1280)))
    }

    @Test func `Copied streams may add the few bytes of another container`() {
        var media = movie(640, 360)
        media.format = .matroska
        #expect(plan(media, bytes: 9_000).conversion?.attachment?.bytesMax == fetchableBytes)
    }

    @Test func `A file that a phone cannot fetch in 8 s of 3G is shrunk to that size`() {
        let plan = plan(image(1280, 720), bytes: 3_000_000)
        #expect(plan.images?.attachment == .still(StillRendition(bytesMax: fetchableBytes, longSideMax: 1280)))
        #expect(NetworkProfile.threeG.fetchSeconds(bytes: fetchableBytes) <= 8)
    }

    @Test func `An image with metadata is encoded again`() {
        var media = image(800, 600)
        media.hasMetadata = true
        #expect(plan(media, bytes: 100_000).outcome == .shrunk)
    }

    @Test func `A wide animation is reduced to 480 pixels`() {
        let plan = plan(image(640, 480, frames: 9), bytes: 1_000_000)
        #expect(plan.conversion?.attachment == .animation(AnimationRendition(bytesMax: 1_000_000, longSideMax: 480)))
    }

    @Test(arguments: [(1920, 1080, 30.0), (1280, 960, 30.0), (1280, 720, 60.0)])
    func `A movie over 720p or 30 frames a second is encoded`(width: Int, height: Int, rate: Double) throws {
        let plan = plan(movie(width, height, rate: rate), bytes: 1_000_000)
        guard case .movie(let rendition) = plan.conversion?.attachment else {
            throw AttachPrepError(.internal, "no movie: \(plan)")
        }
        #expect(!rendition.copiesVideo && rendition.copiesAudio)
        #expect(rendition.longSideMax == 1280 && rendition.shortSideMax == 720 && rendition.frameRateMax == 30)
        #expect(rendition.audioBitRateMax == 96_000 && rendition.bytesMax == 1_000_000)
    }

    @Test func `A movie that only carries metadata keeps its streams`() throws {
        var media = movie(640, 360)
        media.hasMetadata = true
        guard case .movie(let rendition) = plan(media, bytes: 1_000_000).conversion?.attachment else {
            throw AttachPrepError(.internal, "no movie")
        }
        #expect(rendition.copiesVideo && rendition.copiesAudio)
    }

    @Test func `Audio over 96 kbit/s is encoded, other audio is delivered unchanged`() {
        var media = InspectedMedia(format: .mp3)
        (media.duration, media.audio) = (60, [AudioStream(codec: "mp3", channels: 2, sampleRate: 44_100)])
        #expect(plan(media, bytes: 720_000).outcome == .passed)
        guard case .audio(let rendition) = plan(media, bytes: 1_440_000).conversion?.attachment else {
            Issue.record("192 kbit/s was not encoded")
            return
        }
        #expect(!rendition.copies && rendition.bitRateMax == 96_000 && rendition.bytesMax == 1_440_000)
    }
}
