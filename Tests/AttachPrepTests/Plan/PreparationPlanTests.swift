import AttachPrep
import MediaEngine
import MediaTypes
import Testing

struct PreparationPlanTests {
    private func still(_ format: MediaFormat) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (1200, 800, 1)
        return media
    }

    private func animation(frames: Int) -> InspectedMedia {
        var media = still(.gif)
        media.frames = frames
        media.duration = Double(frames) / 10
        return media
    }

    private func movie(_ format: MediaFormat = .mpeg4, orientation: Orientation = .upright) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.duration, media.orientation) = (320, 240, 4, orientation)
        var video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: 320, storedHeight: 240)
        video.lastFrameTime = 3.96
        (video.profile, video.pixelFormat) = ("High", "yuv420p")
        media.video = video
        return media
    }

    private func request(_ change: (inout AttachmentRequest) -> Void = { _ in }) -> AttachmentRequest {
        var request = AttachmentRequest(source: "https://cdn.example/a")
        change(&request)
        return request
    }

    @Test func `An attachable image within its limit is delivered unchanged`() {
        let plan = PreparationPlan(media: still(.jpeg), bytes: 10_000_000, request: request())
        #expect(plan.outcome == .passed && plan.passedType == .jpeg)
        #expect(plan.images?.attachment == nil)
    }

    @Test func `A movie with a defective container is copied into a valid one`() throws {
        var media = movie()
        media.containerDefect = .mediaDataExceedsFile
        let plan = PreparationPlan(media: media, bytes: 1_000, request: request())
        #expect(
            plan.outcome == .converted
                && plan.reasons == [
                    "the media data box is declared longer than the file, though every sample is present"
                ])
        guard case .movie(let rendition) = plan.conversion?.attachment else {
            return #expect(Bool(false), "\(plan)")
        }
        #expect(rendition.copiesVideo && rendition.copiesAudio && !rendition.isRepair)
    }

    @Test func `Text behind a movie is removed by copying its streams`() throws {
        var media = movie()
        media.containerDefect = .trailingData
        let plan = PreparationPlan(media: media, bytes: 1_000, request: request())
        #expect(plan.outcome == .converted && plan.reasons == ["other data follows the movie"])
        guard case .movie(let rendition) = plan.conversion?.attachment else {
            return #expect(Bool(false), "\(plan)")
        }
        #expect(rendition.copiesVideo && rendition.copiesAudio)
    }

    @Test(arguments: [1, 12])
    func `A GIF without its trailer is completed, not encoded`(frames: Int) throws {
        var media = still(.gif)
        media.frames = frames
        media.containerDefect = .trailerMissing
        let plan = PreparationPlan(media: media, bytes: 1_000, request: request())
        #expect(
            plan.outcome == .converted && plan.reasons == ["the GIF ends after a frame, without its trailer"])
        guard case .animation(let rendition) = plan.conversion?.attachment ?? plan.images?.attachment else {
            return #expect(Bool(false), "\(plan)")
        }
        #expect(rendition.completesGIF)
    }

    @Test(arguments: [(1_000, true), (6_000_000, false)])
    func `A WAV without a sample count stays a WAV if it fits the limit`(bytes: Int, stays: Bool) throws {
        var media = InspectedMedia(format: .wave)
        media.duration = 5
        media.containerDefect = .samplesNotCounted
        let plan = PreparationPlan(media: media, bytes: bytes, request: request())
        #expect(plan.outcome == .converted && plan.reasons == ["the WAV header does not state the number of samples"])
        guard case .audio(let rendition) = plan.conversion?.attachment else {
            return #expect(Bool(false), "\(plan)")
        }
        #expect(rendition.completesWave == stays && !rendition.isRepair)
    }

    @Test func `A file one byte over the limit is shrunk, or rejected on request`() {
        let plan = PreparationPlan(media: still(.jpeg), bytes: 10_000_001, request: request())
        #expect(plan.outcome == .shrunk && plan.images?.attachment == .still(StillRendition(bytesMax: 10_000_000)))
        let strict = PreparationPlan(media: still(.jpeg), bytes: 10_000_001, request: request { $0.oversize = .reject })
        #expect(strict.error?.code == .limitExceeded)
    }

    @Test func `The caller's limit applies when it is lower than Apple's`() {
        let plan = PreparationPlan(media: still(.png), bytes: 600, request: request { $0.bytesMax = 500 })
        #expect(plan.outcome == .shrunk && plan.images?.attachment == .still(StillRendition(bytesMax: 500)))
    }

    @Test func `An unsupported still is converted, or rejected on request`() {
        #expect(PreparationPlan(media: still(.webp), bytes: 10, request: request()).outcome == .converted)
        let strict = PreparationPlan(media: still(.webp), bytes: 10, request: request { $0.unsupported = .reject })
        #expect(strict.error?.code == .mediaUnsupported)
    }

    @Test func `Movies, audio and animations over their limit are shrunk, or rejected on request`() {
        let strict = request { $0.oversize = .reject }
        for (media, bytes) in [
            (movie(), 50_000_001), (InspectedMedia(format: .mp3), 5_000_001), (animation(frames: 3), 10_000_001),
        ] {
            let shrunk = PreparationPlan(media: media, bytes: bytes, request: request())
            #expect(shrunk.outcome == .shrunk && shrunk.conversion?.attachment != nil)
            #expect(PreparationPlan(media: media, bytes: bytes, request: strict).error?.code == .limitExceeded)
        }
    }

    @Test func `Without a time, the middle of a movie or animation is shown and no time is emitted`() {
        let movie = PreparationPlan(media: movie(), bytes: 10, request: request())
        #expect(movie.images?.frameSelection == .movieTime(2) && movie.thumbnailTime == nil)
        let animation = PreparationPlan(media: animation(frames: 7), bytes: 10, request: request())
        #expect(animation.images?.frameSelection == .animationFrame(3) && animation.thumbnailTime == nil)
    }

    @Test func `A requested time is shown and emitted`() {
        let requested = request { $0.options.thumbnailTime = .at(3) }
        let movie = PreparationPlan(media: movie(), bytes: 10, request: requested)
        #expect(movie.images?.frameSelection == .movieTime(3))
        #expect(movie.thumbnailTime == .movie(MovieTime(seconds: 3)))
        let animation = PreparationPlan(media: animation(frames: 7), bytes: 10, request: requested)
        #expect(animation.images?.frameSelection == .animationFrame(3) && animation.thumbnailTime == .frame(3))
    }

    @Test func `A time past the end shows the last frame, emits its time, and warns`() {
        let requested = request { $0.options.thumbnailTime = .at(99) }
        let movie = PreparationPlan(media: movie(), bytes: 10, request: requested)
        #expect(movie.images?.frameSelection == .movieTime(4))
        #expect(movie.thumbnailTime == .movie(MovieTime(seconds: 3.96)))
        #expect(movie.warnings.map(\.code) == [.timePastEnd])
        let animation = PreparationPlan(media: animation(frames: 7), bytes: 10, request: requested)
        #expect(animation.thumbnailTime == .frame(6) && animation.warnings.map(\.code) == [.timePastEnd])
    }

    @Test func `A fractional frame number is rejected`() {
        let requested = request { $0.options.thumbnailTime = .at(1.5) }
        let plan = PreparationPlan(media: animation(frames: 7), bytes: 10, request: requested)
        #expect(plan.error?.code == .optionsInvalidTime)
    }

    @Test func `A crop is rendered and emitted, and a rotated movie is then encoded upright`() throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.5, height: 0.25)
        let requested = request { $0.options.crop = .part(rect) }
        let still = PreparationPlan(media: still(.jpeg), bytes: 10, request: requested)
        #expect(still.images?.crop == .part(rect) && still.emitsCrop && still.outcome == .passed)
        let rotated = PreparationPlan(media: movie(orientation: .rotated90), bytes: 10, request: requested)
        #expect(rotated.images?.crop == .part(rect) && rotated.emitsCrop && rotated.outcome == .converted)
        guard case .movie(let rendition) = rotated.conversion?.attachment else {
            Issue.record("no movie rendition")
            return
        }
        #expect(!rendition.copiesVideo && rotated.warnings.isEmpty)
    }

    @Test func `A rotated movie is delivered unchanged with a warning, and encoded upright on request`() {
        let passed = PreparationPlan(media: movie(orientation: .rotated90), bytes: 10, request: request())
        #expect(passed.outcome == .passed && passed.warnings.map(\.code) == [.videoRotated])
        let requested = request { $0.options.bakesRotation = true }
        let baked = PreparationPlan(media: movie(orientation: .rotated90), bytes: 10, request: requested)
        #expect(baked.outcome == .converted && baked.warnings.isEmpty)
        #expect(PreparationPlan(media: movie(), bytes: 10, request: requested).outcome == .passed)
    }

    @Test func `Audio has a thumbnail if it has cover art, and never a crop`() throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.5, height: 0.25)
        var audio = InspectedMedia(format: .mp3)
        #expect(PreparationPlan(media: audio, bytes: 10, request: request()).images == nil)
        audio.hasCoverArt = true
        let plan = PreparationPlan(media: audio, bytes: 10, request: request { $0.options.crop = .part(rect) })
        #expect(plan.images?.frameSelection == .coverArt && plan.images?.crop == nil && !plan.emitsCrop)
    }

    @Test func `A file delivered unchanged with its location warns about it`() {
        var photo = still(.jpeg)
        photo.hasLocation = true
        #expect(PreparationPlan(media: photo, bytes: 10, request: request()).warnings.map(\.code) == [.metadataKept])
        var foreign = still(.heic)
        foreign.hasLocation = true
        #expect(PreparationPlan(media: foreign, bytes: 10, request: request()).warnings.isEmpty)
    }
}
