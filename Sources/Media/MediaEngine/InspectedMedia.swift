public import MediaTypes

/// Requests geometry, timing and streams of a file.
public struct InspectRequest: Codable, Sendable, Hashable {
    /// The format that identification found; nil leaves the detection to the decoders.
    public let format: MediaFormat?
    /// Whether a still is decoded completely; a render does that in any case. Movies, audio and animations are always
    /// validated.
    public let decodesStills: Bool
    /// The thumbnail that a movie will probably need; the descriptors of files for it and for its targets follow the
    /// source's.
    public let expected: ExpectedThumbnail?
    /// Total bytes of a movie that is still being written and has its index first; nil for a complete file. If set, the
    /// last descriptor is the pipe on which further bytes are signaled (`DownloadSignal`).
    public var downloadingBytes: Int?

    public init(format: MediaFormat?, decodesStills: Bool, expected: ExpectedThumbnail? = nil) {
        self.format = format
        self.decodesStills = decodesStills
        self.expected = expected
    }
}

/// The properties of a file as its decoder reports them.
///
/// A truncated or broken file is thrown as `media.corrupt`, unless at least half of a movie or audio file or at least
/// three quarters of a JPEG are readable: then `damage` is set. DRM is thrown as `media.encrypted`; a file that exceeds
/// a decoding limit as `media.too_many_pixels`, `media.too_many_frames` or `media.too_long`.
public struct InspectedMedia: Codable, Sendable, Hashable {
    /// The format by content: an MP4 with audio only is `mpeg4Audio`.
    public var format: MediaFormat
    /// Pixels as displayed, after orientation and sample aspect ratio; nil for audio.
    public var width: Int?
    public var height: Int?
    /// How the stored image must be rotated for display; for a movie, from its display matrix.
    public var orientation: Orientation
    /// Whether the image has an alpha channel, which may be completely opaque.
    public var hasAlpha: Bool
    /// Number of frames of an image, 1 for a still; nil for movies and audio.
    public var frames: Int?
    /// Delay of each frame of an animated image, in milliseconds.
    public var frameDelaysMilliseconds: [Int]?
    /// How often an animated image plays; 0 is forever.
    public var loopCount: Int?
    /// Duration in seconds of movies, audio and animations.
    public var duration: Double?
    /// The video that is shown: of an enabled track, the default one, never cover art.
    public var video: VideoStream?
    /// The audio streams of enabled tracks, the default one first.
    public var audio: [AudioStream]
    /// Whether cover art is embedded.
    public var hasCoverArt: Bool
    /// Whether the file contains a location (EXIF GPS, QuickTime location).
    public var hasLocation: Bool
    /// Color interpretation of a still as libvips names it: `srgb`, `cmyk`, `b-w`, `rgb16`.
    public var color: String?
    /// Whether a still has an embedded color profile.
    public var hasColorProfile: Bool
    /// Whether the file has data that decoding does not need: EXIF, XMP, IPTC, comments, tags.
    public var hasMetadata: Bool
    /// The damage of a file that can be repaired; nil for an intact file.
    public var damage: MediaDamage?
    /// A defect of the container around intact streams; nil without one.
    public var containerDefect: ContainerDefect?
    /// Whether the file was validated completely; false when time ran short.
    public var isValidated: Bool

    /// `attachprep inspect --format json` prints these names, so they do not change.
    private enum CodingKeys: String, CodingKey {
        case format, width, height, orientation, hasAlpha, frames, frameDelaysMilliseconds, loopCount, duration, video
        case audio, hasCoverArt, hasLocation, hasMetadata, damage
        case color = "colour"
        case hasColorProfile = "hasColourProfile"
        case containerDefect = "containerFault"
        case isValidated = "isProved"
    }

    public init(format: MediaFormat) {
        self.format = format
        orientation = .upright
        hasAlpha = false
        audio = []
        hasCoverArt = false
        hasLocation = false
        hasColorProfile = false
        hasMetadata = false
        isValidated = true
    }

    /// Durations and times are clamped to 1e9 s, about 32 years.
    public static let secondsMax = 1e9

    /// The kind of media, by content.
    public var kind: MediaKind { format.kind }

    /// Whether this is an image with more than one frame.
    public var isAnimated: Bool { (frames ?? 1) > 1 }
}

/// A defect of a container whose streams are intact; they are copied into a correct container.
public enum ContainerDefect: String, Codable, Sendable, Hashable {
    /// The media data box (`mdat`) of an MP4 is declared longer than the file, although every sample lies in the file.
    case mediaDataExceedsFile
    /// Data that is no box follows the last box of an MP4.
    case trailingData
    /// The samples of an MP4 are in fragments, each with an index of its own.
    case fragmented
    /// All tracks of an MP4 are disabled: a player shows nothing.
    case tracksDisabled
    /// An edit of an MP4 that is not fragmented has no duration: some players show all that follows, others nothing.
    case editWithoutEnd
    /// The sample entry of an MP4 lacks parameter sets that its samples have.
    case parameterSetsMissing
    /// The video changes its size or its parameter sets in the middle, which one sample entry cannot describe.
    case parameterSetsChange
    /// A GIF ends after a complete frame, or a JPEG after all of its image, without the end marker.
    case trailerMissing
    /// A JPEG is coded arithmetically, or has no Huffman tables, as a frame of Motion JPEG.
    case rareCoding
    /// The orientation of a PNG is in a text chunk, by which only some decoders turn the pixels.
    case orientationInText
    /// The data chunk of a WAV is the last one and has no length: the file was written to a pipe, or never finished.
    case samplesNotCounted
}

/// The damage of a file that can be repaired.
public struct MediaDamage: Codable, Sendable, Hashable {
    /// Seconds of a movie or audio file by its header; `InspectedMedia.duration` is the readable part.
    public var declaredDuration: Double?
    /// The fraction of a still that is shown as it was, 0 to 1; 1 when only detail of the whole image is missing.
    public var intactShare: Double?

    public init(declaredDuration: Double) {
        self.declaredDuration = declaredDuration
    }

    public init(intactShare: Double) {
        self.intactShare = intactShare
    }
}

/// A movie's video stream.
public struct VideoStream: Codable, Sendable, Hashable {
    /// The name in libavcodec: `h264`, `hevc`, `mpeg4`, `mjpeg`, `mpeg2video`, `av1`…
    public var codec: String
    /// The four-character code in the container (`avc1`, `hvc1`, `hev1`…); empty without one.
    public var codecTag: String
    /// The profile, if known: `High`, `Main 10`…
    public var profile: String?
    /// The name in libavutil: `yuv420p`, `yuv420p10le`…
    public var pixelFormat: String?
    /// Bits per component: 8, 10 or 12.
    public var bitDepth: Int
    /// Whether chroma has half the width and half the height of luma.
    public var isChroma420: Bool
    /// Pixels as stored.
    public var storedWidth: Int
    public var storedHeight: Int
    /// Width of a pixel divided by its height; 1 is square.
    public var sampleAspectRatio: Double
    /// Average frames per second, if known.
    public var frameRate: Double?
    /// Presentation times of the first and the last frame in seconds, in the movie's own timeline.
    public var firstFrameTime: Double
    public var lastFrameTime: Double
    /// Whether the colors are HDR (PQ, HLG or Dolby Vision).
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

public struct AudioStream: Codable, Sendable, Hashable {
    /// The name in libavcodec: `aac`, `alac`, `mp3`, `ac3`, `pcm_s16le`…
    public var codec: String
    /// The profile, if known: `LC`, `HE-AAC`…
    public var profile: String?
    public var channels: Int
    /// Samples per second.
    public var sampleRate: Int
    /// Bits per second, if known.
    public var bitRate: Int?

    public init(codec: String, channels: Int, sampleRate: Int, bitRate: Int? = nil) {
        self.codec = codec
        self.channels = channels
        self.sampleRate = sampleRate
        self.bitRate = bitRate
    }
}

/// Requests the format of a file, which may still be downloading.
public struct IdentifyRequest: Codable, Sendable, Hashable {
    /// Number of bytes available; only these are read.
    public let availableBytes: Int
    /// Whether these are all bytes of the file.
    public let isComplete: Bool

    public init(availableBytes: Int, isComplete: Bool) {
        self.availableBytes = availableBytes
        self.isComplete = isComplete
    }
}

/// The format of a file by its first bytes.
///
/// A file that is not media is reported as an error: `media.unrecognized`, `media.unsupported` or `media.empty`.
public struct IdentifiedMedia: Codable, Sendable, Hashable {
    /// The format; nil when the available bytes do not determine it, and the decoders have to find out.
    public let format: MediaFormat?
    /// The MIME type that libmagic reports for content without a known signature; empty for all other content.
    public let magicMIMEType: String

    public init(format: MediaFormat?, magicMIMEType: String) {
        self.format = format
        self.magicMIMEType = magicMIMEType
    }
}

/// The thumbnail that a source will probably need, made with its inspection: of a movie from frames that are decoded
/// anyway, of a still by the same call.
public struct ExpectedThumbnail: Codable, Sendable, Hashable {
    public var box: ThumbnailRendition
    /// The pictures for other systems that show the same frame.
    public var targets: [TargetRendition]
    /// Time in seconds in the movie's own timeline; nil for the middle, and for a still.
    public var seconds: Double?

    public init(box: ThumbnailRendition, targets: [TargetRendition] = [], seconds: Double?) {
        self.box = box
        self.targets = targets
        self.seconds = seconds
    }

    /// The outputs in the order of their descriptors.
    public var outputs: [RenderOutput] { [.thumbnail] + targets.map { .target($0.key) } }

    /// The render request for a still, or for a movie of that duration.
    public func request(format: MediaFormat, duration: Double?) -> RenderRequest {
        var request = RenderRequest(
            format: format,
            frameSelection: format.kind == .image ? .still : .movieTime(seconds ?? (duration ?? 0) / 2))
        (request.thumbnail, request.targets) = (box, targets)
        return request
    }
}

/// A render made before it was requested.
public struct EarlyRender: Codable, Sendable, Hashable {
    public let request: RenderRequest
    public let media: RenderedMedia

    public init(request: RenderRequest, media: RenderedMedia) {
        self.request = request
        self.media = media
    }

    public func matches(_ wanted: RenderRequest) -> Bool { wanted == request }
}
