import AttachPrep
import AttachPrepModel
import MediaEngine
import MediaTypes
import Testing

/// `docs/reference/apple-attachment-rules.md` 1.1, by container and codec.
struct AttachabilityTests {
    struct Case: Sendable, CustomStringConvertible {
        let format: MediaFormat
        var video: String?
        var tag = ""
        var profile: String?
        var pixels = "yuv420p"
        var audio: [String] = []
        var audioProfile: String?
        var frames = 1
        let expected: AttachmentType?

        var description: String {
            "\(format) \(video ?? "") \(profile ?? "") \(pixels) \(tag) \(audio) -> "
                + (expected.map { "\($0)" } ?? "no")
        }

        var media: InspectedMedia {
            var media = InspectedMedia(format: format)
            media.frames = format.kind == .image ? frames : nil
            media.audio = audio.map {
                var stream = AudioStream(codec: $0, channels: 2, sampleRate: 44_100)
                stream.profile = audioProfile
                return stream
            }
            if let video {
                var stream = VideoStream(codec: video, codecTag: tag, storedWidth: 320, storedHeight: 240)
                (stream.profile, stream.pixelFormat) = (profile, pixels)
                media.video = stream
            }
            return media
        }
    }

    static let cases: [Case] = [
        Case(format: .jpeg, expected: .jpeg),
        Case(format: .png, expected: .png),
        Case(format: .png, frames: 4, expected: nil),
        Case(format: .gif, frames: 12, expected: .gif),
        Case(format: .webp, expected: nil),
        Case(format: .heic, expected: nil),
        Case(format: .avif, expected: nil),
        Case(format: .tiff, expected: nil),
        Case(format: .bmp, expected: nil),
        Case(format: .wave, audio: ["pcm_s16le"], expected: .wave),
        Case(format: .wave, audio: ["adpcm_ms"], expected: .wave),
        Case(format: .wave, audio: ["adpcm_yamaha"], expected: nil),
        Case(format: .wave, audio: ["adpcm_g726"], expected: nil),
        Case(format: .wave, audio: ["pcm_f64le"], expected: .wave),
        Case(format: .wave, audio: ["wmav2"], expected: nil),
        Case(format: .wave, audio: ["ac3"], expected: nil),
        Case(format: .wave, audio: ["flac"], expected: nil),
        Case(format: .aiff, audio: ["pcm_s16be"], expected: .aiff),
        Case(format: .aiff, audio: ["pcm_f64be"], expected: nil),
        Case(format: .mp3, audio: ["mp3"], expected: .mp3),
        Case(format: .mpeg4Audio, audio: ["aac"], expected: .mpeg4Audio),
        Case(format: .mpeg4Audio, audio: ["alac"], expected: .mpeg4Audio),
        Case(format: .mpeg4Audio, audio: ["aac"], audioProfile: "HE-AAC", expected: .mpeg4Audio),
        Case(format: .mpeg4Audio, audio: ["aac"], audioProfile: "Main", expected: nil),
        Case(format: .mpeg4Audio, audio: ["aac"], audioProfile: "LTP", expected: nil),
        Case(format: .mpeg4Audio, audio: ["opus"], expected: nil),
        Case(format: .aac, audio: ["aac"], expected: nil),
        Case(format: .aifc, audio: ["pcm_s16be"], expected: nil),
        Case(format: .caf, audio: ["alac"], expected: nil),
        Case(format: .flac, audio: ["flac"], expected: nil),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High", audio: ["aac"], expected: .mpeg4),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High", expected: .mpeg4),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High 10", pixels: "yuv420p10le", expected: nil),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High 4:2:2", pixels: "yuv422p", expected: nil),
        Case(
            format: .mpeg4, video: "hevc", tag: "hvc1", profile: "Main 10", pixels: "yuv420p10le", audio: ["aac"],
            expected: .mpeg4),
        Case(format: .mpeg4, video: "hevc", tag: "hev1", profile: "Main", audio: ["aac"], expected: nil),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "Constrained Baseline", expected: .mpeg4),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High 4:4:4 Predictive", expected: nil),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High", pixels: "gray", expected: nil),
        Case(format: .mpeg4, video: "h264", tag: "avc1", expected: nil),
        Case(format: .mpeg4, video: "hevc", tag: "hvc1", profile: "Main", expected: .mpeg4),
        Case(format: .mpeg4, video: "hevc", tag: "hvc1", profile: "Rext", pixels: "yuv444p", expected: nil),
        Case(format: .mpeg4, video: "hevc", tag: "hvc1", profile: "Rext", pixels: "yuv422p10le", expected: nil),
        Case(format: .mpeg4, video: "hevc", tag: "hvc1", profile: "Rext", pixels: "yuv420p12le", expected: nil),
        Case(format: .mpeg4, video: "hevc", tag: "hvc1", profile: "Rext", pixels: "gray", expected: nil),
        Case(format: .mpeg4, video: "av1", tag: "av01", expected: nil),
        Case(format: .mpeg4, video: "vp9", tag: "vp09", expected: nil),
        Case(format: .mpeg4, video: "mpeg4", tag: "mp4v", expected: nil),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High", audio: ["opus"], expected: nil),
        Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High", audio: ["ac3"], expected: .mpeg4),
        Case(format: .quickTime, video: "h264", tag: "avc1", profile: "High", audio: ["aac"], expected: nil),
        Case(format: .m4v, video: "h264", tag: "avc1", profile: "High", expected: nil),
        Case(format: .threeGPP, video: "h264", tag: "avc1", profile: "High", expected: nil),
        Case(format: .avi, video: "mpeg4", tag: "XVID", audio: ["mp3"], expected: .avi),
        Case(format: .avi, video: "mjpeg", tag: "MJPG", expected: .avi),
        Case(format: .avi, video: "h264", tag: "H264", profile: "Main", expected: .avi),
        Case(format: .avi, video: "mjpeg", tag: "MJPG", pixels: "yuvj444p", expected: nil),
        Case(format: .avi, video: "mpeg4", tag: "XVID", audio: ["wmav2"], expected: nil),
        Case(format: .avi, video: "msmpeg4v3", tag: "DIV3", expected: nil),
        Case(format: .mpegProgramStream, video: "mpeg1video", audio: ["mp2"], expected: .mpeg),
        Case(format: .mpegProgramStream, video: "mpeg2video", profile: "Main", audio: ["ac3"], expected: .mpeg),
        Case(format: .mpegProgramStream, video: "mpeg2video", profile: "4:2:2", pixels: "yuv422p", expected: nil),
        Case(format: .mpegProgramStream, video: "mpeg2video", profile: "Main", audio: ["dts"], expected: nil),
        Case(format: .mpegProgramStream, video: "h264", expected: nil),
        Case(format: .mpeg1Video, video: "mpeg1video", expected: .mpeg),
        Case(format: .mpeg2Video, video: "mpeg2video", profile: "Main", expected: .mpeg2Video),
        Case(format: .webm, video: "vp9", expected: nil),
        Case(format: .matroska, video: "h264", expected: nil),
        Case(format: .mpegTransportStream, video: "h264", expected: nil),
    ]

    @Test(arguments: cases) func `A file's container and codecs decide whether iOS can attach it`(row: Case) {
        switch Attachability(row.media) {
        case .attachable(let type): #expect(type == row.expected)
        case .notAttachable(let reason): #expect(row.expected == nil, "\(reason)")
        }
    }

    @Test(arguments: [
        ContainerDefect.fragmented, .tracksDisabled, .parameterSetsMissing, .parameterSetsChange,
    ]) func `A file whose tracks do not obey their container is not attachable`(defect: ContainerDefect) {
        var media = Case(format: .mpeg4, video: "h264", tag: "avc1", profile: "High", expected: nil).media
        media.containerDefect = defect
        guard case .notAttachable = Attachability(media) else {
            Issue.record("attachable")
            return
        }
        let plan = PreparationPlan(media: media, bytes: 1_000, request: AttachmentRequest(source: "https://a.example/"))
        guard case .movie(let rendition) = plan.conversion?.attachment else {
            Issue.record("no movie: \(plan)")
            return
        }
        #expect(rendition.copiesVideo == (defect != .parameterSetsChange))
    }
}
