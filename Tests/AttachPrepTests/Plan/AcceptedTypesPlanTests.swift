import AttachPrep
import AttachPrepModel
import MediaEngine
import MediaTypes
import Testing

/// How the types that an app accepts change the plan.
struct AcceptedTypesPlanTests {
    private func request(_ types: String, _ change: (inout AttachmentRequest) -> Void = { _ in }) throws
        -> AttachmentRequest
    {
        var request = AttachmentRequest(source: "https://cdn.example/a")
        request.attachmentTypes = try AcceptedTypes(text: types)
        change(&request)
        return request
    }

    private func plan(
        _ media: InspectedMedia, accepting types: String, _ change: (inout AttachmentRequest) -> Void = { _ in }
    ) throws -> PreparationPlan {
        PreparationPlan(media: media, bytes: 1_000, request: try request(types, change))
    }

    private func audio(_ format: MediaFormat, _ codec: String) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.duration, media.audio) = (10, [AudioStream(codec: codec, channels: 2, sampleRate: 44_100)])
        return media
    }

    private func movie(_ format: MediaFormat, _ codec: String) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.duration) = (640, 360, 10)
        var video = VideoStream(codec: codec, codecTag: "", storedWidth: 640, storedHeight: 360)
        (video.profile, video.pixelFormat) = ("High", "yuv420p")
        media.video = video
        return media
    }

    private func image(_ format: MediaFormat, frames: Int = 1) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (64, 64, frames)
        return media
    }

    @Test(arguments: [
        (MediaFormat.mpeg4Audio, "aac"), (.wave, "pcm_s16le"), (.aiff, "pcm_s16be"), (.flac, "flac"), (.opus, "opus"),
    ])
    func `Audio that is not MP3 becomes MP3 when only that is accepted`(format: MediaFormat, codec: String) throws {
        let plan = try plan(audio(format, codec), accepting: "mp3,mp4")
        #expect(plan.outcome == .converted && plan.originalType == nil)
        #expect(plan.conversion?.attachment == .audio(AudioRendition(.mp3, bytesMax: 5_000_000, copies: false)))
    }

    @Test func `The reason names the accepted types`() throws {
        let plan = try plan(audio(.mpeg4Audio, "aac"), accepting: "wav,mp3")
        #expect(plan.reasons == ["audio/mp4 is not among the accepted types: mp3, wav"])
    }

    @Test func `Sources of an accepted type pass unchanged`() throws {
        #expect(try plan(audio(.mp3, "mp3float"), accepting: "mp3,mp4").passedType == .mp3)
        #expect(try plan(audio(.wave, "pcm_s16le"), accepting: "mp3,wav").passedType == .wave)
        #expect(try plan(image(.png), accepting: "jpg,png").passedType == .png)
    }

    @Test func `A kind without a listed type is not restricted`() throws {
        #expect(try plan(image(.gif, frames: 3), accepting: "mp3,mp4").passedType == .gif)
        #expect(try plan(audio(.wave, "pcm_s16le"), accepting: "jpg").passedType == .wave)
    }

    @Test func `MP3 in another container is copied into an MP3`() throws {
        let plan = try plan(audio(.matroskaAudio, "mp3float"), accepting: "mp3")
        #expect(plan.conversion?.attachment == .audio(AudioRendition(.mp3, bytesMax: 5_000_000, copies: true)))
    }

    @Test(arguments: [(MediaFormat.avi, "mpeg4"), (.mpegProgramStream, "mpeg2video")])
    func `An AVI or MPEG becomes an MP4 when only that is accepted`(format: MediaFormat, codec: String) throws {
        let plan = try plan(movie(format, codec), accepting: "mp4")
        guard case .movie = plan.conversion?.attachment else {
            Issue.record("no movie: \(plan)")
            return
        }
        #expect(plan.outcome == .converted)
    }

    @Test func `An animation becomes a still when GIF is not accepted`() throws {
        let plan = try plan(image(.gif, frames: 3), accepting: "jpg,png")
        #expect(plan.conversion == nil && plan.warnings.map(\.code) == [.animationLost])
    }

    @Test func `A PNG becomes a JPEG when PNG is not accepted`() throws {
        let plan = try plan(image(.png), accepting: "jpg")
        var expected = StillRendition(bytesMax: 10_000_000)
        expected.isJPEGOnly = true
        #expect(plan.images?.attachment == .still(expected))
    }

    @Test func `Without permission to convert, another type is rejected`() throws {
        let plan = try plan(audio(.wave, "pcm_s16le"), accepting: "mp3") { $0.unsupported = .reject }
        #expect(plan.error?.code == .mediaUnsupported)
    }

    @Test(arguments: [("wav,aiff", "mp3"), ("avi", "mp4"), ("png", "jpg"), ("", "empty"), ("webm", "known types")])
    func `A list without a type that can be written is invalid`(types: String, remedy: String) {
        let error = #expect(throws: AttachPrepError.self) { try request(types).validate() }
        #expect(error?.code == .requestInvalid && error?.message.contains(remedy) == true, "\(error?.message ?? "")")
    }
}
