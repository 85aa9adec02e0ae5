import MediaEngine
import MediaTypes
import Testing

@testable import AttachPrep

/// The predicted thumbnail is the one that the plan requests later.
struct ThumbnailPredictionTests {
    private func movie(_ format: MediaFormat) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.duration) = (320, 240, 4)
        var video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: 320, storedHeight: 240)
        video.lastFrameTime = 3.96
        (video.profile, video.pixelFormat) = ("High", "yuv420p")
        media.video = video
        return media
    }

    private func predicted(
        _ format: MediaFormat?, bytes: Int = 1000, _ change: (inout AttachmentRequest) -> Void = { _ in }
    ) -> (thumbnail: ExpectedThumbnail?, planned: RenderRequest?) {
        var request = AttachmentRequest(source: "https://cdn.example/a")
        change(&request)
        let plan = PreparationPlan(media: movie(format ?? .mpeg4), bytes: bytes, request: request)
        return (ThumbnailPrediction(format: format, bytes: bytes, request: request).thumbnail, plan.images)
    }

    @Test(arguments: [MediaFormat.mpeg4, .quickTime], [nil, 0, 1.5, 3.99])
    func `A movie's predicted thumbnail is the planned one`(format: MediaFormat, seconds: Double?) throws {
        let (thumbnail, planned) = predicted(format) { request in
            request.options.thumbnailTime = seconds.map { .at($0) }
            request.options.thumbnailFit = .cover
        }
        let early = EarlyRender(
            request: try #require(thumbnail).request(format: format, duration: 4), media: RenderedMedia())
        #expect(early.matches(try #require(planned)))
    }

    @Test func `A predicted thumbnail does not match another request`() throws {
        let early = EarlyRender(
            request: try #require(predicted(.mpeg4).thumbnail).request(format: .mpeg4, duration: 4),
            media: RenderedMedia())
        var planned = try #require(predicted(.mpeg4).planned)
        planned.frameSelection = .movieTime(1)
        #expect(!early.matches(planned))
        planned = try #require(predicted(.mpeg4).planned)
        planned.crop = .smart(.square)
        #expect(!early.matches(planned))
    }

    @Test(arguments: [MediaFormat.jpeg, .png])
    func `The predicted thumbnail of a small still is the planned one`(format: MediaFormat) throws {
        let request = AttachmentRequest(source: "https://cdn.example/a")
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (4000, 3000, 1)
        let planned = PreparationPlan(media: media, bytes: 1000, request: request).images
        let thumbnail = ThumbnailPrediction(format: format, bytes: 1000, request: request).thumbnail
        #expect(try #require(thumbnail).request(format: format, duration: nil) == planned)
    }

    @Test func `No thumbnail is predicted for other stills, audio, crops, searches and rejections`() {
        #expect(predicted(.heic).thumbnail == nil)
        #expect(predicted(.jpeg, bytes: 500_000).thumbnail == nil)
        #expect(predicted(.jpeg) { $0.options.crop = .smart(.square) }.thumbnail == nil)
        #expect(predicted(.mp3).thumbnail == nil)
        #expect(predicted(nil).thumbnail == nil)
        #expect(predicted(.mpeg4) { $0.options.crop = .smart(.square) }.thumbnail == nil)
        #expect(predicted(.mpeg4) { $0.options.thumbnailTime = .auto }.thumbnail == nil)
        #expect(predicted(.mpeg4, bytes: 60_000_000) { $0.oversize = .reject }.thumbnail == nil)
        #expect(predicted(.mpeg4, bytes: 60_000_000).thumbnail != nil)
    }
}
