import AttachPrep
import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

/// What is delivered when the time does not suffice for what was asked: DESIGN 2's order.
struct RenderLadderTests {
    private let late = AttachPrepError(.deadlineExceeded, "Late.")

    private func movie(_ format: MediaFormat = .webm, codec: String = "vp9") -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.duration) = (640, 360, 10)
        var video = VideoStream(codec: codec, codecTag: "avc1", storedWidth: 640, storedHeight: 360)
        video.lastFrameTime = 9.96
        media.video = video
        return media
    }

    private func still(_ format: MediaFormat) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (640, 360, 1)
        return media
    }

    private func tooLate(_ fits: @escaping @Sendable (RenderRequest) -> Bool) -> FakeEngine.Rule {
        FakeEngine.Rule(fits: fits, error: late)
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

    @Test func `In time, the pictures are made first and the movie after them`() async throws {
        let engine = FakeEngine(movie())
        let manifest = try await prepare(engine)
        #expect(manifest.outcome == .converted && manifest.attachment?.uti == "public.mpeg-4")
        #expect(engine.renders.map(\.outputs) == [[.thumbnail], [.attachment]])
        #expect(manifest.warnings.isEmpty && manifest.thumbnail?.time == 5)
    }

    /// The thumbnail of a movie of ten seconds that nothing special is asked of.
    private func expected(_ format: MediaFormat, at seconds: Double = 5) -> RenderRequest {
        var request = RenderRequest(format: format, picture: .movieTime(seconds))
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        return request
    }

    @Test func `A thumbnail that came along is not made again`() async throws {
        let passed = FakeEngine(movie(.mpeg4, codec: "h264"), early: expected(.mpeg4))
        let manifest = try await prepare(passed)
        #expect(passed.renders.isEmpty && manifest.outcome == .passed)
        #expect(manifest.thumbnail?.time == 5 && manifest.thumbnail?.bytes == 9)
        let copied = FakeEngine(movie(.quickTime, codec: "h264"), early: expected(.quickTime))
        #expect(try await prepare(copied).thumbnail?.bytes == 9)
        #expect(copied.renders.map(\.outputs) == [[.attachment]])
    }

    @Test func `A thumbnail that came along for something else is made anew`() async throws {
        let engine = FakeEngine(movie(.mpeg4, codec: "h264"), early: expected(.mpeg4, at: 1))
        #expect(try await prepare(engine).thumbnail?.time == 5)
        #expect(engine.renders == [expected(.mpeg4)])
    }

    @Test func `Streams that fit are copied before any picture is made`() async throws {
        let engine = FakeEngine(movie(.quickTime, codec: "h264"))
        let manifest = try await prepare(engine) { $0.options.thumbnailTime = .auto }
        #expect(engine.renders.map(\.outputs) == [[.attachment], [.thumbnail]])
        #expect(manifest.outcome == .converted && manifest.attachment?.uti == "public.mpeg-4")
        #expect(manifest.options?.thumbnailTime == .movie(MovieTime(seconds: 7)))
    }

    @Test func `A copy without a thumbnail is better than none`() async throws {
        let manifest = try await prepare(
            FakeEngine(movie(.quickTime, codec: "h264"), [tooLate { $0.thumbnail != nil }]))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.uti == "public.mpeg-4")
        #expect(manifest.thumbnail == nil && manifest.warnings.map(\.code) == [.deadlineDegraded])
    }

    @Test func `A file that could not be checked to the end is delivered as the best that could be done`() async throws
    {
        var media = movie(.mpeg4, codec: "h264")
        media.isProved = false
        let manifest = try await prepare(FakeEngine(media))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.bytes == 5)
    }

    @Test func `A movie that is not ready in time is delivered as its thumbnail`() async throws {
        let manifest = try await prepare(FakeEngine(movie(), [tooLate { $0.attachment != nil }])) {
            $0.options.thumbnailTime = .at(3)
        }
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.file == "attachment.jpg")
        #expect(manifest.attachment?.sha256 == manifest.thumbnail?.sha256 && manifest.attachment?.width == 30)
        #expect(manifest.warnings.map(\.code) == [.deadlineDegraded])
        #expect(manifest.options?.thumbnailTime == nil && manifest.options?.thumbnailClippingRect == nil)
    }

    @Test func `Where a crop is there, it stands for the movie`() async throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.5, height: 0.5)
        let manifest = try await prepare(FakeEngine(movie(), [tooLate { $0.attachment != nil }])) {
            $0.options.crop = .part(rect)
        }
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.sha256 == manifest.crop?.sha256)
        #expect(manifest.options?.thumbnailClippingRect == nil)
    }

    @Test func `A crop that takes too long is left out`() async throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.5, height: 0.5)
        let manifest = try await prepare(FakeEngine(still(.jpeg), [tooLate { $0.crop != nil }])) {
            $0.options.crop = .part(rect)
        }
        #expect(manifest.outcome == .bestAttempt && manifest.crop == nil && manifest.thumbnail != nil)
        #expect(manifest.attachment?.bytes == 5, "the source, unchanged")
        #expect(manifest.options?.thumbnailClippingRect == rect)
    }

    @Test func `A still that cannot be written in time is delivered as its thumbnail`() async throws {
        let manifest = try await prepare(FakeEngine(still(.tiff), [tooLate { $0.attachment != nil }]))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.sha256 == manifest.thumbnail?.sha256)
    }

    @Test func `What a still's render had written in time stands for it`() async throws {
        let rule = FakeEngine.Rule(fits: { $0.attachment != nil }, error: nil, lacksAttachment: true)
        let engine = FakeEngine(still(.tiff), [rule])
        let manifest = try await prepare(engine)
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.sha256 == manifest.thumbnail?.sha256)
        #expect(engine.renders.count == 1)
    }

    @Test func `Where the wanted picture takes too long, the first one is shown, and the wanted time is kept`()
        async throws
    {
        let engine = FakeEngine(movie(), [tooLate { $0.picture == .movieTime(8) && $0.thumbnail != nil }])
        let manifest = try await prepare(engine) { $0.options.thumbnailTime = .at(8) }
        #expect(engine.renders.map(\.picture) == [.movieTime(8), .movieTime(0), .movieTime(8)])
        #expect(manifest.outcome == .bestAttempt && manifest.thumbnail?.time == 0)
        #expect(manifest.options?.thumbnailTime == .movie(MovieTime(seconds: 8)))
    }

    @Test func `Without any picture, a file that iOS takes is delivered as it is`() async throws {
        let manifest = try await prepare(FakeEngine(movie(.mpeg4, codec: "h264"), [tooLate { _ in true }]))
        #expect(manifest.outcome == .bestAttempt && manifest.attachment?.bytes == 5 && manifest.thumbnail == nil)
        let turned = FakeEngine(
            {
                var media = movie(.mpeg4, codec: "h264")
                media.orientation = .rotated90
                return media
            }(), [tooLate { _ in true }])
        let baked = try await prepare(turned) { $0.options.bakesRotation = true }
        #expect(baked.outcome == .bestAttempt && baked.attachment?.bytes == 5)
        #expect(Set(baked.warnings.map(\.code)) == [.deadlineDegraded, .videoRotated])
    }

    @Test func `Without any picture, a file that iOS does not take is refused by its deadline`() async throws {
        let manifest = try await prepare(FakeEngine(movie(), [tooLate { _ in true }]))
        #expect(manifest.outcome == .rejected && manifest.error?.code == .deadlineExceeded)
    }

    @Test func `What cannot be made smaller for a display is delivered as it is`() async throws {
        let over = FakeEngine.Rule(
            fits: { $0.attachment != nil }, error: AttachPrepError(.limitExceeded, "Over."))
        var media = movie(.mpeg4, codec: "h264")
        (media.width, media.height) = (1920, 1080)
        let manifest = try await prepare(FakeEngine(media, [over])) { $0.rendition = .display }
        #expect(manifest.outcome == .passed && manifest.attachment?.bytes == 5)
    }

    @Test func `A still that cannot be made smaller for a display is delivered as it is`() async throws {
        let over = FakeEngine.Rule(
            fits: { $0.attachment != nil }, error: AttachPrepError(.limitExceeded, "Over."))
        var media = still(.jpeg)
        media.hasMetadata = true
        let manifest = try await prepare(FakeEngine(media, [over])) { $0.rendition = .display }
        #expect(manifest.outcome == .passed && manifest.attachment?.bytes == 5 && manifest.thumbnail != nil)
    }

    @Test func `What cannot be as small as its source may be larger, within its limit`() async throws {
        let over = FakeEngine.Rule(
            fits: { ($0.attachment?.bytesMax ?? .max) < 100 }, error: AttachPrepError(.limitExceeded, "Over."))
        let engine = FakeEngine(movie(), [over])
        let manifest = try await prepare(engine) { $0.rendition = .display }
        #expect(engine.renders.compactMap { $0.attachment?.bytesMax } == [5, 1_440_000])
        #expect(manifest.outcome == .converted)
    }

    @Test func `A broken file is refused, whatever time is left`() async throws {
        let broken = FakeEngine.Rule(fits: { _ in true }, error: AttachPrepError(.mediaCorrupt, "Broken."))
        let manifest = try await prepare(FakeEngine(movie(), [broken]))
        #expect(manifest.error?.code == .mediaCorrupt)
    }

    @Test func `The picture that was found is the one whose place is asked for and emitted`() async throws {
        let engine = FakeEngine(movie())
        let manifest = try await prepare(engine) { $0.options.thumbnailTime = .auto }
        #expect(engine.renders.map(\.picture) == [.representative, .movieTime(7)])
        #expect(manifest.options?.thumbnailTime == .movie(MovieTime(seconds: 7)))
    }
}
