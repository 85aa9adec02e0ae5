import AttachPrep
import AttachPrepModel
import MediaEngine
import MediaTypes
import Testing

/// Which streams are copied, which are encoded, and within which bounds.
struct RenditionPlannerTests {
    private func movie(
        _ format: MediaFormat, _ codec: String, audio: String? = "aac",
        change: (inout InspectedMedia) -> Void = { _ in }
    ) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.duration) = (640, 360, 10)
        var video = VideoStream(codec: codec, codecTag: "", storedWidth: 640, storedHeight: 360)
        (video.lastFrameTime, video.frameRate) = (9.96, 25)
        (video.profile, video.pixelFormat) = (codec == "hevc" ? "Main" : "High", "yuv420p")
        media.video = video
        media.audio = audio.map { [AudioStream(codec: $0, channels: 2, sampleRate: 48_000, bitRate: 64_000)] } ?? []
        change(&media)
        return media
    }

    private func request(_ change: (inout AttachmentRequest) -> Void = { _ in }) -> AttachmentRequest {
        var request = AttachmentRequest(source: "https://cdn.example/a")
        change(&request)
        return request
    }

    private func rendition(
        _ media: InspectedMedia, bytes: Int = 1_000_000, _ change: (inout AttachmentRequest) -> Void = { _ in }
    ) throws -> MovieRendition {
        let plan = PreparationPlan(media: media, bytes: bytes, request: request(change))
        guard case .movie(let rendition) = plan.conversion?.attachment else {
            throw AttachPrepError(.internal, "no movie: \(plan)")
        }
        return rendition
    }

    @Test(arguments: [
        (MediaFormat.quickTime, "h264", "aac", true, true), (.matroska, "h264", "opus", true, false),
        (.flashVideo, "h264", "mp3", true, true), (.mpegTransportStream, "hevc", "ac3", true, true),
        (.webm, "vp9", "opus", false, false), (.quickTime, "prores", "pcm_s16le", false, false),
        (.threeGPP, "h263", "amr_nb", false, false), (.matroska, "mpeg4", "alac", false, true),
    ])
    func `Streams that iOS accepts are copied, others are encoded`(
        format: MediaFormat, video: String, audio: String, copiesVideo: Bool, copiesAudio: Bool
    ) throws {
        let rendition = try rendition(movie(format, video, audio: audio))
        #expect(rendition.copiesVideo == copiesVideo && rendition.copiesAudio == copiesAudio)
        #expect(rendition.bytesMax == 50_000_000 && rendition.longSideMax == nil)
    }

    @Test func `High-depth H.264 is encoded, high-depth HEVC is copied`() throws {
        func copies(_ codec: String, _ profile: String) throws -> Bool {
            let media = movie(.quickTime, codec) { media in
                media.video?.profile = profile
                media.video?.pixelFormat = "yuv420p10le"
            }
            return try rendition(media).copiesVideo
        }
        #expect(try !copies("h264", "High 10"))
        #expect(try copies("hevc", "Main 10"))
    }

    @Test func `A video track over the size limit is not copied`() throws {
        #expect(try rendition(movie(.quickTime, "h264"), bytes: 60_000_000).copiesVideo == false)
    }

    @Test func `A movie's size limit follows from the device network and budget`() throws {
        let rendition = try rendition(movie(.quickTime, "h264"), bytes: 9_000_000) {
            ($0.network, $0.deviceBudgetSeconds) = (.kilobits(1000), 30.3)
        }
        #expect(rendition.bytesMax == 3_750_000 && !rendition.copiesVideo)
    }

    @Test func `Damaged media is repaired, or rejected on request`() throws {
        let damaged = movie(.mpeg4, "h264") { $0.damage = MediaDamage(declaredDuration: 18) }
        let rendition = try rendition(damaged)
        #expect(rendition.isRepair && !rendition.copiesVideo && !rendition.copiesAudio)
        let strict = PreparationPlan(media: damaged, bytes: 10, request: request { $0.unsupported = .reject })
        #expect(strict.error?.code == .mediaCorrupt)
    }

    @Test(arguments: [
        (MediaFormat.aac, "aac", true), (.caf, "alac", true), (.flac, "flac", false), (.mp2, "mp2", false),
    ])
    func `Raw AAC and Apple Lossless are copied, other audio is encoded`(
        format: MediaFormat, codec: String, copies: Bool
    ) {
        var media = InspectedMedia(format: format)
        (media.duration, media.audio) = (10, [AudioStream(codec: codec, channels: 2, sampleRate: 44_100)])
        let plan = PreparationPlan(media: media, bytes: 1000, request: request())
        #expect(plan.conversion?.attachment == .audio(AudioRendition(bytesMax: 5_000_000, copies: copies)))
    }

    @Test func `An MP3 whose tags are too large is copied without them`() {
        var media = InspectedMedia(format: .mp3)
        media.duration = 4
        media.audio = [AudioStream(codec: "mp3", channels: 2, sampleRate: 44_100, bitRate: 128_000)]
        let plan = PreparationPlan(media: media, bytes: 6_065_234, request: request())
        #expect(plan.outcome == .shrunk)
        #expect(plan.conversion?.attachment == .audio(AudioRendition(.mp3, bytesMax: 5_000_000, copies: true)))
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif]) func `Animated images become GIF`(format: MediaFormat) {
        let plan = PreparationPlan(media: animation(format), bytes: 1000, request: request())
        #expect(plan.outcome == .converted)
        #expect(plan.conversion?.attachment == .animation(AnimationRendition(bytesMax: 10_000_000)))
    }

    @Test(arguments: [MediaFormat.gif, .webp]) func `An animation becomes a movie on request`(format: MediaFormat) {
        let plan = PreparationPlan(
            media: animation(format), bytes: 1000, request: request { $0.options.animation = .mp4 })
        let expected = MovieRendition(bytesMax: 50_000_000, copiesVideo: false, copiesAudio: false)
        #expect(plan.outcome == .converted && plan.conversion?.attachment == .movie(expected))
    }

    @Test(arguments: [MediaFormat.gif, .webp])
    func `An animation becomes a still of its first frame on request, with a warning and no time`(format: MediaFormat) {
        let plan = PreparationPlan(
            media: animation(format), bytes: 1000, request: request { $0.options.animation = .still })
        #expect(plan.conversion == nil && plan.images?.frameSelection == .animationFrame(0))
        #expect(plan.images?.attachment == .still(StillRendition(bytesMax: 10_000_000)))
        #expect(plan.warnings.map(\.code) == [.animationLost] && plan.thumbnailTime == nil && !plan.emitsShownTime)
    }

    @Test func `An automatic thumbnail time searches for a frame and emits its time`() {
        let auto = request { $0.options.thumbnailTime = .auto }
        for media in [movie(.mpeg4, "h264"), animation(.webp)] {
            let plan = PreparationPlan(media: media, bytes: 10, request: auto)
            #expect(plan.images?.frameSelection == .representative && plan.emitsShownTime)
        }
        var still = InspectedMedia(format: .jpeg)
        still.frames = 1
        let plan = PreparationPlan(media: still, bytes: 10, request: auto)
        #expect(plan.images?.frameSelection == .still && !plan.emitsShownTime)
    }

    private func animation(_ format: MediaFormat) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames, media.duration) = (320, 240, 12, 1.2)
        return media
    }

    // MARK: Impossible numbers (issue 18)

    @Test(
        arguments: [
            -1e12, -1, 0, 1e12, 1e300, .infinity, -.infinity, .nan,
        ] as [Double]) func `Invalid durations and counts do not crash planning`(seconds: Double)
    {
        for codec in ["h264", "vp9"] {
            for count in [Int.min, -1, 0, 2_147_483_647, .max] {
                let media = movie(.quickTime, codec) {
                    ($0.duration, $0.frames, $0.width, $0.height) = (seconds, count, count, count)
                    $0.video?.lastFrameTime = seconds
                    $0.video?.frameRate = seconds
                    let audio = AudioStream(codec: "aac", channels: count, sampleRate: count, bitRate: count)
                    $0.audio = [audio, audio, audio]
                }
                for bytes in [0, 1_000_000, Int.max] {
                    for rendition in [RequestedRendition.original, .display] {
                        var animation = media
                        animation.format = .gif
                        for media in [media, animation] {
                            for time in [nil, ThumbnailTimeChoice.auto, .at(1), .at(seconds)] {
                                let request = request {
                                    $0.rendition = rendition
                                    $0.options.thumbnailTime = time
                                }
                                _ = PreparationPlan(media: media, bytes: bytes, request: request)
                            }
                        }
                    }
                }
            }
        }
    }
}
