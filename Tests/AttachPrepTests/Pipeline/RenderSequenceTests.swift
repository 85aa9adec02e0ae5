import AttachPrep
import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

/// What is delivered when the time is too short for the request, in the order of
/// `docs/explanation/time-budget.md`.
struct RenderSequenceTests {
    private let late = AttachPrepError(.deadlineExceeded, "Late.")

    private func movie(_ format: MediaFormat = .webm, codec: String = "vp9") -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.duration) = (640, 360, 10)
        var video = VideoStream(codec: codec, codecTag: "avc1", storedWidth: 640, storedHeight: 360)
        (video.profile, video.pixelFormat) = ("High", "yuv420p")
        video.lastFrameTime = 9.96
        media.video = video
        return media
    }

    private func still(_ format: MediaFormat) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (640, 360, 1)
        return media
    }

    private func tooLate(_ matches: @escaping @Sendable (RenderRequest) -> Bool) -> FakeEngine.Rule {
        FakeEngine.Rule(matches: matches, error: late)
    }

    private func prepare(
        _ engine: FakeEngine, _ change: (inout AttachmentRequest) -> Void = { _ in }
    ) async throws -> Manifest {
        let folder = try TemporaryFolder()
        let source = folder.path("source")
        try Data("bytes".utf8).write(to: URL(fileURLWithPath: source))
        var configuration = PreparerConfiguration(output: folder.path("out"))
        configuration.allowsLocalFiles = true
        let preparer = try AttachmentPreparer(configuration, engine: engine)
        var request = AttachmentRequest(source: source)
        change(&request)
        let manifest = await preparer.prepare(request)
        await preparer.shutdown()
        for file in [manifest.attachment?.file, manifest.thumbnail?.file, manifest.crop?.file].compactMap({ $0 }) {
            let path = folder.path("out/\(manifest.id)/\(file)")
            #expect(FileManager.default.fileExists(atPath: path), "\(file) is missing")
        }
        return manifest
    }

    @Test func `In time, the images are rendered before the movie`() async throws {
        let engine = FakeEngine(movie())
        let manifest = try await prepare(engine)
        #expect(manifest.outcome == .converted && manifest.attachment?.uti == "public.mpeg-4")
        #expect(engine.renders.map(\.outputs) == [[.thumbnail], [.attachment]])
        #expect(manifest.warnings.isEmpty && manifest.thumbnail?.time == 5)
    }

    /// The default thumbnail of a movie of ten seconds.
    private func expected(_ format: MediaFormat, at seconds: Double = 5) -> RenderRequest {
        var request = RenderRequest(format: format, frameSelection: .movieTime(seconds))
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        return request
    }

    @Test func `An early thumbnail is not rendered again`() async throws {
        let passed = FakeEngine(movie(.mpeg4, codec: "h264"), early: expected(.mpeg4))
        let manifest = try await prepare(passed)
        #expect(passed.renders.isEmpty && manifest.outcome == .passed)
        #expect(manifest.thumbnail?.time == 5 && manifest.thumbnail?.bytes == 9)
        let copied = FakeEngine(movie(.quickTime, codec: "h264"), early: expected(.quickTime))
        #expect(try await prepare(copied).thumbnail?.bytes == 9)
        #expect(copied.renders.map(\.outputs) == [[.attachment]])
    }

    @Test func `An early thumbnail of another frame is rendered again`() async throws {
        let engine = FakeEngine(movie(.mpeg4, codec: "h264"), early: expected(.mpeg4, at: 1))
        #expect(try await prepare(engine).thumbnail?.time == 5)
        #expect(engine.renders == [expected(.mpeg4)])
    }

    @Test func `Streams that can be copied are copied before any image is rendered`() async throws {
        let engine = FakeEngine(movie(.quickTime, codec: "h264"))
        let manifest = try await prepare(engine) { $0.options.thumbnailTime = .auto }
        #expect(engine.renders.map(\.outputs) == [[.attachment], [.thumbnail]])
        #expect(manifest.outcome == .converted && manifest.attachment?.uti == "public.mpeg-4")
        #expect(manifest.options?.thumbnailTime == .movie(MovieTime(seconds: 7)))
    }

    @Test func `A copied movie is delivered even without a thumbnail`() async throws {
        let manifest = try await prepare(
            FakeEngine(movie(.quickTime, codec: "h264"), [tooLate { $0.thumbnail != nil }]))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.uti == "public.mpeg-4")
        #expect(manifest.thumbnail == nil && manifest.warnings.map(\.code) == [.deadlineDegraded])
    }

    @Test func `A file that could not be fully validated in time is delivered as the best attempt`() async throws {
        var media = movie(.mpeg4, codec: "h264")
        media.isValidated = false
        let manifest = try await prepare(FakeEngine(media))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.bytes == 5)
    }

    @Test func `A movie that is not ready in time is replaced by its thumbnail`() async throws {
        let manifest = try await prepare(FakeEngine(movie(), [tooLate { $0.attachment != nil }])) {
            $0.options.thumbnailTime = .at(3)
        }
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.file == "attachment.jpg")
        #expect(manifest.attachment?.sha256 == manifest.thumbnail?.sha256 && manifest.attachment?.width == 30)
        #expect(manifest.warnings.map(\.code) == [.deadlineDegraded])
        #expect(manifest.options?.thumbnailTime == nil && manifest.options?.thumbnailClippingRect == nil)
    }

    @Test func `A movie that is not ready in time is replaced by its crop if there is one`() async throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.5, height: 0.5)
        let manifest = try await prepare(FakeEngine(movie(), [tooLate { $0.attachment != nil }])) {
            $0.options.crop = .part(rect)
        }
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.sha256 == manifest.crop?.sha256)
        #expect(manifest.options?.thumbnailClippingRect == nil)
    }

    @Test func `A crop that takes too long is omitted`() async throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.5, height: 0.5)
        let manifest = try await prepare(FakeEngine(still(.jpeg), [tooLate { $0.crop != nil }])) {
            $0.options.crop = .part(rect)
        }
        #expect(manifest.outcome == .bestAttempt && manifest.crop == nil && manifest.thumbnail != nil)
        #expect(manifest.attachment?.bytes == 5, "the source, unchanged")
        #expect(manifest.options?.thumbnailClippingRect == rect)
    }

    @Test func `A still that cannot be written in time is replaced by its thumbnail`() async throws {
        let manifest = try await prepare(FakeEngine(still(.tiff), [tooLate { $0.attachment != nil }]))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.sha256 == manifest.thumbnail?.sha256)
    }

    @Test func `A still without an attachment at the deadline is replaced by its thumbnail`() async throws {
        let rule = FakeEngine.Rule(matches: { $0.attachment != nil }, error: nil, lacksAttachment: true)
        let engine = FakeEngine(still(.tiff), [rule])
        let manifest = try await prepare(engine)
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.sha256 == manifest.thumbnail?.sha256)
        #expect(engine.renders.count == 1)
    }

    @Test func `If the requested frame takes too long, the first one is shown, and the requested time is kept`()
        async throws
    {
        let engine = FakeEngine(movie(), [tooLate { $0.frameSelection == .movieTime(8) && $0.thumbnail != nil }])
        let manifest = try await prepare(engine) { $0.options.thumbnailTime = .at(8) }
        #expect(engine.renders.map(\.frameSelection) == [.movieTime(8), .movieTime(0), .movieTime(8)])
        #expect(manifest.outcome == .bestAttempt && manifest.thumbnail?.time == 0)
        #expect(manifest.options?.thumbnailTime == .movie(MovieTime(seconds: 8)))
    }

    @Test func `Without any image, a file that iOS accepts is delivered as it is`() async throws {
        let manifest = try await prepare(FakeEngine(movie(.mpeg4, codec: "h264"), [tooLate { _ in true }]))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.bytes == 5 && manifest.thumbnail == nil)
        let rotated = FakeEngine(
            {
                var media = movie(.mpeg4, codec: "h264")
                media.orientation = .rotated90
                return media
            }(), [tooLate { _ in true }])
        let baked = try await prepare(rotated) { $0.options.bakesRotation = true }
        #expect(baked.outcome == .bestAttempt && baked.attachment?.bytes == 5)
        #expect(Set(baked.warnings.map(\.code)) == [.deadlineDegraded, .videoRotated])
    }

    @Test func `Without any image, a file that iOS does not accept is rejected at the deadline`() async throws {
        let manifest = try await prepare(FakeEngine(movie(), [tooLate { _ in true }]))
        #expect(manifest.outcome == .rejected && manifest.error?.code == .deadlineExceeded)
    }

    @Test func `A movie that cannot be made smaller for display is delivered as it is`() async throws {
        let over = FakeEngine.Rule(
            matches: { $0.attachment != nil }, error: AttachPrepError(.limitExceeded, "Over."))
        var media = movie(.mpeg4, codec: "h264")
        (media.width, media.height) = (1920, 1080)
        let manifest = try await prepare(FakeEngine(media, [over])) { $0.rendition = .display }
        #expect(manifest.outcome == .passed && manifest.attachment?.bytes == 5)
    }

    @Test func `A still that cannot be made smaller for display is delivered as it is`() async throws {
        let over = FakeEngine.Rule(
            matches: { $0.attachment != nil }, error: AttachPrepError(.limitExceeded, "Over."))
        var media = still(.jpeg)
        media.hasMetadata = true
        let manifest = try await prepare(FakeEngine(media, [over])) { $0.rendition = .display }
        #expect(manifest.outcome == .passed && manifest.attachment?.bytes == 5 && manifest.thumbnail != nil)
    }

    @Test func `A movie that cannot be as small as its source may be larger, within its limit`() async throws {
        let over = FakeEngine.Rule(
            matches: { ($0.attachment?.bytesMax ?? .max) < 100 }, error: AttachPrepError(.limitExceeded, "Over."))
        let engine = FakeEngine(movie(), [over])
        let manifest = try await prepare(engine) { $0.rendition = .display }
        #expect(engine.renders.compactMap { $0.attachment?.bytesMax } == [5, 1_440_000])
        #expect(manifest.outcome == .converted)
    }

    @Test func `A corrupt file is rejected, however much time is left`() async throws {
        let broken = FakeEngine.Rule(matches: { _ in true }, error: AttachPrepError(.mediaCorrupt, "Broken."))
        let manifest = try await prepare(FakeEngine(movie(), [broken]))
        #expect(manifest.error?.code == .mediaCorrupt)
    }

    @Test func `The time of the frame that was found is requested and emitted`() async throws {
        let engine = FakeEngine(movie())
        let manifest = try await prepare(engine) { $0.options.thumbnailTime = .auto }
        #expect(engine.renders.map(\.frameSelection) == [.representative, .movieTime(7)])
        #expect(manifest.options?.thumbnailTime == .movie(MovieTime(seconds: 7)))
    }
}
