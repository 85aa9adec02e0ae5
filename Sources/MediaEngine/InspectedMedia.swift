public import RichPush

/// Asks for geometry, timing and streams of a file.
public struct InspectRequest: Codable, Sendable, Hashable {
    /// From identification; nil leaves it to the decoders.
    public let format: MediaFormat?
    /// Whether a still is decoded to its end as well; a render does that anyway. Movies, sounds and animations always
    /// are checked.
    public let decodesStills: Bool
    /// The thumbnail that will probably be wanted of a movie; a file for it stands beside the source then.
    public let expected: ExpectedThumbnail?
    /// Bytes of the whole of a movie that is still being written, whose index stands in front; nil for a file that is
    /// complete. Where its words come from (`ArrivalWord`) stands behind the other descriptors then.
    public var arrivingBytes: Int?

    public init(format: MediaFormat?, decodesStills: Bool, expected: ExpectedThumbnail? = nil) {
        self.format = format
        self.decodesStills = decodesStills
        self.expected = expected
    }
}

/// What a file is by its decoder's word.
///
/// A truncated or broken file is thrown as `media.corrupt`, unless it is a movie or sound of which at least half is
/// there, or a JPEG of which at least three quarters are: that has `damage`. DRM is thrown as `media.encrypted`; what
/// exceeds a decoding limit as `media.too_many_pixels`, `media.too_many_frames` or `media.too_long`.
public struct InspectedMedia: Codable, Sendable, Hashable {
    /// The format by what is inside: an MP4 with sound only is `mpeg4Audio`.
    public var format: MediaFormat
    /// Pixels as displayed: after orientation and sample aspect ratio. Nil for sound.
    public var width: Int?
    public var height: Int?
    /// How the stored picture must be turned; what the display matrix says, for a movie.
    public var orientation: Orientation
    /// Whether the picture has an alpha channel (which may be opaque throughout).
    public var hasAlpha: Bool
    /// Pictures of an image: 1 for a still. Nil for movies and sounds.
    public var frames: Int?
    /// Delay of each frame of an animated image, in milliseconds.
    public var frameDelaysMilliseconds: [Int]?
    /// How often an animated image plays; 0 is for ever.
    public var loopCount: Int?
    /// Seconds; of movies, sounds and animations.
    public var duration: Double?
    /// The first picture stream that is not cover art.
    public var video: VideoStream?
    /// The sound streams, in file order.
    public var audio: [AudioStream]
    /// Whether a cover picture is embedded.
    public var hasCoverArt: Bool
    /// Whether the file says where it was taken (EXIF GPS, QuickTime location).
    public var hasLocation: Bool
    /// A still's colour: `srgb`, `cmyk`, `b-w`, `rgb16`, as libvips names it.
    public var colour: String?
    /// Whether a still carries a colour profile.
    public var hasColourProfile: Bool
    /// Whether it carries what its pixels or samples do not need: EXIF, XMP, IPTC, comments, tags.
    public var hasMetadata: Bool
    /// What is missing of a file that is damaged but worth a repair; nil for an intact file.
    public var damage: MediaDamage?
    /// What is wrong with the file around streams of which nothing is missing; nil where nothing is.
    public var containerFault: ContainerFault?
    /// Whether its validity was proved as far as it is ever proved; time may have run short.
    public var isProved: Bool

    public init(format: MediaFormat) {
        self.format = format
        orientation = .upright
        hasAlpha = false
        audio = []
        hasCoverArt = false
        hasLocation = false
        hasColourProfile = false
        hasMetadata = false
        isProved = true
    }

    /// Durations and times beyond this many seconds, 30 years, are bounded to it: nothing in a movie is further away.
    public static let secondsMax = 1e9

    /// The kind, by what is inside.
    public var kind: MediaKind { format.kind }

    /// Whether it is an image of more than one picture.
    public var isAnimated: Bool { (frames ?? 1) > 1 }
}

/// How a file misdescribes streams that are all there: they are copied into one that is right.
public enum ContainerFault: String, Codable, Sendable, Hashable {
    /// An MP4's media data box (`mdat`) is declared longer than the file, though each sample lies in the file.
    case mediaDataExceedsFile
    /// A WAV's data chunk is the last one and does not say how long it is: it was written to a pipe, or never finished.
    case samplesNotCounted
}

/// How a file is damaged of which enough is there for a repair.
public struct MediaDamage: Codable, Sendable, Hashable {
    /// Seconds of a movie or sound by its header; `InspectedMedia.duration` is what can be read.
    public var declaredDuration: Double?
    /// The part of a still picture's rows for which nothing had to be invented, 0 to 1.
    public var intactShare: Double?

    public init(declaredDuration: Double) {
        self.declaredDuration = declaredDuration
    }

    public init(intactShare: Double) {
        self.intactShare = intactShare
    }
}

/// A movie's picture stream.
public struct VideoStream: Codable, Sendable, Hashable {
    /// libavcodec's name: `h264`, `hevc`, `mpeg4`, `mjpeg`, `mpeg2video`, `av1`…
    public var codec: String
    /// The four-character code in the container (`avc1`, `hvc1`, `hev1`…), empty where there is none.
    public var codecTag: String
    /// `High`, `Main 10`…, where known.
    public var profile: String?
    /// libavutil's name: `yuv420p`, `yuv420p10le`…
    public var pixelFormat: String?
    /// 8, 10 or 12 bits a component.
    public var bitDepth: Int
    /// Whether chroma is stored at half width and half height.
    public var isChroma420: Bool
    /// Pixels as stored.
    public var storedWidth: Int
    public var storedHeight: Int
    /// Width of a pixel over its height; 1 is square.
    public var sampleAspectRatio: Double
    /// Frames a second on average, where known.
    public var frameRate: Double?
    /// Seconds of the first and the last frame shown, in the movie's own timeline.
    public var firstFrameTime: Double
    public var lastFrameTime: Double
    /// Whether colours are HDR (PQ, HLG or Dolby Vision).
    public var isHDR: Bool

    public init(codec: String, codecTag: String, storedWidth: Int, storedHeight: Int) {
        self.codec = codec
        self.codecTag = codecTag
        self.storedWidth = storedWidth
        self.storedHeight = storedHeight
        bitDepth = 8
        isChroma420 = true
        sampleAspectRatio = 1
        firstFrameTime = 0
        lastFrameTime = 0
        isHDR = false
    }
}

/// A sound stream.
public struct AudioStream: Codable, Sendable, Hashable {
    /// libavcodec's name: `aac`, `alac`, `mp3`, `ac3`, `pcm_s16le`…
    public var codec: String
    public var channels: Int
    /// Samples a second.
    public var sampleRate: Int
    /// Bits a second, where known.
    public var bitRate: Int?

    public init(codec: String, channels: Int, sampleRate: Int, bitRate: Int? = nil) {
        self.codec = codec
        self.channels = channels
        self.sampleRate = sampleRate
        self.bitRate = bitRate
    }
}
