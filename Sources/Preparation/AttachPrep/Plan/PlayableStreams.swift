import MediaEngine
import MediaTypes

/// The streams that iOS plays in each type of attachment. What is in no row is converted. Pure.
///
/// A codec's name is not enough: phones decode 4:2:0 in hardware, H.264 in 8 bits and HEVC in 8 or 10, and no
/// lossless, 4:2:2, 4:4:4 or gray profile in all models. Names are those of libavcodec and libavutil.
/// Source: `docs/reference/apple-attachment-rules.md`, section 1.1.
package enum PlayableStreams {
    struct Video: Hashable {
        let codec: String
        /// The four-character codes of sample entries; nil where the container has none that matter.
        var tags: Set<String>?
        /// Nil for codecs whose streams need not name their profile; a stream without a name is then accepted.
        var profiles: Set<String>?
        let pixelFormats: Set<String>

        func contains(_ video: VideoStream, withTag: Bool) -> Bool {
            guard video.codec == codec, let format = video.pixelFormat, pixelFormats.contains(format) else {
                return false
            }
            if let profiles, !(video.profile.map(profiles.contains) ?? false) { return false }
            return !withTag || tags?.contains(video.codecTag) ?? true
        }
    }

    private static let yuv420: Set<String> = ["yuv420p", "yuvj420p"]
    private static let h264Profiles: Set<String> = ["Constrained Baseline", "Baseline", "Main", "High"]
    private static let mpeg4Video = [
        Video(codec: "h264", tags: ["avc1"], profiles: h264Profiles, pixelFormats: yuv420),
        Video(codec: "hevc", tags: ["hvc1"], profiles: ["Main"], pixelFormats: yuv420),
        Video(codec: "hevc", tags: ["hvc1"], profiles: ["Main 10"], pixelFormats: yuv420.union(["yuv420p10le"])),
    ]
    private static let aviVideo = [
        Video(codec: "h264", profiles: h264Profiles, pixelFormats: yuv420),
        Video(codec: "mpeg4", pixelFormats: yuv420),
        Video(codec: "mjpeg", pixelFormats: yuv420.union(["yuv422p", "yuvj422p"])),
    ]
    private static let mpegVideo = [
        Video(codec: "mpeg1video", pixelFormats: yuv420),
        Video(codec: "mpeg2video", profiles: ["Simple", "Main"], pixelFormats: yuv420),
    ]

    /// The rows of a type.
    static func video(in type: AttachmentType) -> [Video] {
        switch type {
        case .mpeg4: mpeg4Video
        case .avi: aviVideo
        case .mpeg, .mpeg2Video: mpegVideo
        default: []
        }
    }

    private static let wavePCM: Set<String> = [
        "pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le", "pcm_alaw", "pcm_mulaw",
    ]

    /// The audio codecs of a type.
    static func audio(in type: AttachmentType) -> Set<String> {
        switch type {
        case .mpeg4, .mpeg4Audio: ["aac", "alac", "mp3", "mp3float", "ac3"]
        case .mp3: ["mp3", "mp3float"]
        // Core Audio also decodes GSM and the ADPCM of IMA and Microsoft.
        case .wave: wavePCM.union(["gsm_ms", "adpcm_ima_wav", "adpcm_ms"])
        case .aiff: ["pcm_s8", "pcm_s16be", "pcm_s24be", "pcm_s32be"]
        case .avi: wavePCM.union(["aac", "mp3", "ac3", "adpcm_ima_wav", "adpcm_ms"])
        case .mpeg, .mpeg2Video: ["mp1", "mp2", "mp3", "ac3"]
        default: []
        }
    }

    /// Profiles of AAC that Core Audio decodes; a stream that names none is accepted.
    private static let aacProfiles: Set<String> = ["LC", "HE-AAC", "HE-AACv2", "LD", "ELD"]

    /// Whether iOS plays a video stream in a file of that type.
    ///
    /// - Parameter withTag: Whether the four-character code counts; a copy writes its own.
    static func plays(_ video: VideoStream, in type: AttachmentType, withTag: Bool = true) -> Bool {
        self.video(in: type).contains { $0.contains(video, withTag: withTag) }
    }

    /// Whether iOS plays an audio stream in a file of that type.
    static func plays(_ audio: AudioStream, in type: AttachmentType) -> Bool {
        self.audio(in: type).contains(audio.codec)
            && (audio.codec != "aac" || audio.profile.map(aacProfiles.contains) ?? true)
    }
}
