import AttachPrep
import MediaEngine
import RichPush
import Testing

/// The display rendition: what a notification can show and a phone can fetch.
struct DisplayPlanTests {
    /// What a phone on 3G fetches in 8 s, with half a second kept back for what goes beside it.
    private let fetched = 1_440_000

    private func plan(_ media: InspectedMedia, bytes: Int) -> PreparationPlan {
        var request = AttachmentRequest(source: "https://cdn.example/a")
        request.rendition = .display
        return PreparationPlan(media: media, bytes: bytes, request: request)
    }

    private func picture(_ width: Int, _ height: Int, frames: Int = 1) -> InspectedMedia {
        var media = InspectedMedia(format: frames > 1 ? .gif : .jpeg)
        (media.width, media.height, media.frames) = (width, height, frames)
        return media
    }

    private func movie(_ width: Int, _ height: Int, rate: Double = 30) -> InspectedMedia {
        var media = InspectedMedia(format: .mpeg4)
        (media.width, media.height, media.duration) = (width, height, 10)
        var video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: width, storedHeight: height)
        video.frameRate = rate
        media.video = video
        media.audio = [AudioStream(codec: "aac", channels: 2, sampleRate: 48_000, bitRate: 64_000)]
        return media
    }

    @Test func `What is within the bounds is passed`() {
        #expect(plan(picture(1280, 720), bytes: 400_000).outcome == .passed)
        #expect(plan(picture(480, 480, frames: 9), bytes: 400_000).outcome == .passed)
        #expect(plan(movie(720, 1280), bytes: 1_000_000).outcome == .passed)
    }

    @Test func `A large picture is reduced to what is shown, never to more bytes than it had`() {
        let plan = plan(picture(4000, 3000), bytes: 900_000)
        #expect(plan.outcome == .shrunk)
        #expect(plan.images?.attachment == .still(StillRendition(bytesMax: 900_000, longSideMax: 1280)))
    }

    @Test func `A movie that is converted for a display does not grow either, if it can be helped`() {
        var media = movie(640, 360)
        media.format = .webm
        media.video?.codec = "vp9"
        let plan = plan(media, bytes: 9_000)
        #expect(plan.conversion?.attachment?.bytesMax == 9_000 && plan.relaxedBytesMax == fetched)
    }

    @Test func `A picture of a leaner format may grow`() {
        var media = picture(800, 600)
        media.format = .avif
        let plan = plan(media, bytes: 9_000)
        #expect(plan.images?.attachment == .still(StillRendition(bytesMax: fetched, longSideMax: 1280)))
    }

    @Test func `Streams that are copied may take the few bytes of another box`() {
        var media = movie(640, 360)
        media.format = .matroska
        #expect(plan(media, bytes: 9_000).conversion?.attachment?.bytesMax == fetched)
    }

    @Test func `What a phone cannot fetch in eight seconds of 3G is shrunk to it`() {
        let plan = plan(picture(1280, 720), bytes: 3_000_000)
        #expect(plan.images?.attachment == .still(StillRendition(bytesMax: fetched, longSideMax: 1280)))
        #expect(NetworkProfile.threeG.fetchSeconds(bytes: fetched) <= 8)
    }

    @Test func `Metadata is a reason to write a picture anew`() {
        var media = picture(800, 600)
        media.hasMetadata = true
        #expect(plan(media, bytes: 100_000).outcome == .shrunk)
    }

    @Test func `A wide animation is reduced to 480 pixels`() {
        let plan = plan(picture(640, 480, frames: 9), bytes: 1_000_000)
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

    @Test func `Sound over 96 kbit a second is encoded, other audio is passed`() {
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
