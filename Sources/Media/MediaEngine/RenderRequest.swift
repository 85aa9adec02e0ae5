public import AttachPrepModel
public import MediaTypes

/// Requests renditions of an inspected file.
///
/// A still is always decoded completely, so a truncated one throws `media.corrupt` whatever is requested.
public struct RenderRequest: Codable, Sendable, Hashable {
    /// The format that inspection found.
    public var format: MediaFormat
    /// How the attachment is written; nil when the source is delivered unchanged.
    public var attachment: AttachmentRendition?
    /// The thumbnail, made from the crop if there is one.
    public var thumbnail: ThumbnailRendition?
    /// The part of the upright image to write at full resolution.
    public var crop: CropChoice?
    /// The pictures for other systems than iOS. One that cannot be made is a warning.
    public var targets: [TargetRendition]
    /// The frame that thumbnail and crop show; its position in a written attachment is returned.
    public var frameSelection: FrameSelection
    /// Whether the source is still downloading; the last descriptor then signals further bytes (`DownloadSignal`). Only
    /// a thumbnail can be made this way, and not of every image; an error then does not mean that the file is invalid.
    public var isDownloading: Bool

    public init(format: MediaFormat, frameSelection: FrameSelection) {
        self.format = format
        self.frameSelection = frameSelection
        targets = []
        isDownloading = false
    }
}

extension RenderRequest {
    /// The requested outputs, in the order of their descriptors.
    public var outputs: [RenderOutput] {
        var outputs: [RenderOutput] = []
        if attachment != nil { outputs.append(.attachment) }
        if thumbnail != nil { outputs.append(.thumbnail) }
        if crop != nil { outputs.append(.crop) }
        return outputs + targets.map { .target($0.key) }
    }
}

/// The bounding box of a thumbnail in pixels.
public struct ThumbnailRendition: Codable, Sendable, Hashable {
    public var width: Int
    public var height: Int
    public var fit: ThumbnailFit

    public init(width: Int, height: Int, fit: ThumbnailFit) {
        self.width = width
        self.height = height
        self.fit = fit
    }
}

/// How an image is fitted into its box; nothing is enlarged.
public enum ThumbnailFit: String, JSONChoice, Sendable, Hashable {
    /// Inside the box, without padding.
    case contain
    /// Filling the box; what exceeds it is cut off.
    case cover
}

/// The part of an image to cut out.
public enum CropChoice: Codable, Sendable, Hashable {
    /// A part of the upright image.
    case part(ClippingRect)
    /// The most salient part, as large as possible in this aspect ratio.
    case smart(AspectRatio)
}

/// An aspect ratio, such as 16:9.
public struct AspectRatio: Codable, Sendable, Hashable {
    public var width: Int
    public var height: Int

    public static let square = AspectRatio(width: 1, height: 1)

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// The selected frame of a file.
public enum FrameSelection: Codable, Sendable, Hashable {
    /// The only frame of a still.
    case still
    /// Frame number of an animated image, from 0.
    case animationFrame(Int)
    /// Time in seconds: the last frame of a movie whose presentation time is not later.
    case movieTime(Double)
    /// The cover art of an audio file.
    case coverArt
    /// The most representative frame of a movie or an animation: not black, not in a fade, not blurred.
    case representative
}

public enum RenderOutput: Codable, Sendable, Hashable, CustomStringConvertible {
    case attachment
    case thumbnail
    case crop
    /// The picture with this key.
    case target(String)

    /// The name of the file without its extension.
    public var description: String {
        switch self {
        case .attachment: "attachment"
        case .thumbnail: "thumbnail"
        case .crop: "crop"
        case .target(let key): key
        }
    }

    /// The outputs that no key of a target may be named like.
    public static let own: [RenderOutput] = [.attachment, .thumbnail, .crop]
}

/// How the attachment is written.
///
/// All but stills take long and are rendered in a separate call, without thumbnail and crop.
public enum AttachmentRendition: Codable, Sendable, Hashable {
    /// JPEG, or PNG if the image has transparency.
    case still(StillRendition)
    /// GIF, with the delays and loop count of its source.
    case animation(AnimationRendition)
    /// MP4 with H.264 and AAC, index first. The source may be an animated image.
    case movie(MovieRendition)
    /// M4A or MP3.
    case audio(AudioRendition)
}

extension AttachmentRendition {
    public var kind: MediaKind {
        switch self {
        case .still, .animation: .image
        case .movie: .movie
        case .audio: .audio
        }
    }

    /// The limit for the file in decimal bytes.
    public var bytesMax: Int {
        switch self {
        case .still(let still): still.bytesMax
        case .animation(let animation): animation.bytesMax
        case .movie(let movie): movie.bytesMax
        case .audio(let audio): audio.bytesMax
        }
    }

    /// The same rendition with another size limit.
    public func within(bytesMax: Int) -> AttachmentRendition {
        switch self {
        case .still(var still):
            still.bytesMax = bytesMax
            return .still(still)
        case .animation(var animation):
            animation.bytesMax = bytesMax
            return .animation(animation)
        case .movie(var movie):
            movie.bytesMax = bytesMax
            return .movie(movie)
        case .audio(var audio):
            audio.bytesMax = bytesMax
            return .audio(audio)
        }
    }

    /// Whether all streams are copied, which takes as long as reading the file.
    public var isCopy: Bool {
        switch self {
        case .movie(let movie): movie.copiesVideo && movie.copiesAudio
        case .audio(let audio): audio.copies || audio.completesWave
        case .animation(let animation): animation.completesGIF
        case .still: false
        }
    }
}

/// A still encoded as JPEG, or as PNG if it has transparency, or if it was lossless and fits the limit.
public struct StillRendition: Codable, Sendable, Hashable {
    /// The limit for the file in decimal bytes. Quality is reduced first, then size.
    public var bytesMax: Int
    /// The limit for the longer side in pixels; nil keeps the size.
    public var longSideMax: Int?
    /// Whether a transparent image is drawn on white and encoded as JPEG, since PNG is not accepted.
    public var isJPEGOnly: Bool
    /// Whether the source is known to be damaged, so that it is read as far as possible.
    public var isRepair: Bool

    public init(bytesMax: Int, longSideMax: Int? = nil) {
        self.bytesMax = bytesMax
        self.longSideMax = longSideMax
        isJPEGOnly = false
        isRepair = false
    }
}

/// An animation written as GIF.
public struct AnimationRendition: Codable, Sendable, Hashable {
    /// The limit for the file in decimal bytes. Precision is reduced first, then colors, frames and size.
    public var bytesMax: Int
    /// The limit for the longer side in pixels; nil keeps the size.
    public var longSideMax: Int?
    /// Whether a GIF without its trailer is copied and the trailer added.
    public var completesGIF = false

    public init(bytesMax: Int, longSideMax: Int? = nil) {
        self.bytesMax = bytesMax
        self.longSideMax = longSideMax
    }
}

/// A movie written as MP4.
public struct MovieRendition: Codable, Sendable, Hashable {
    /// The limit for the file in decimal bytes. Quality is reduced first, then size, frame rate and length.
    public var bytesMax: Int
    /// Whether the video stream can be copied; it is encoded nevertheless if it cannot be muxed.
    public var copiesVideo: Bool
    /// Whether the audio stream can be copied.
    public var copiesAudio: Bool
    /// The limits for the longer and the shorter side in pixels as displayed; nil keeps the size.
    public var longSideMax: Int?
    public var shortSideMax: Int?
    /// The limit for frames per second; nil keeps the rate.
    public var frameRateMax: Double?
    /// The limit for audio in bits per second; nil leaves it to the encoder's default quality.
    public var audioBitRateMax: Int?
    /// Whether the source is known to be damaged, so that it is read as far as possible.
    public var isRepair: Bool

    public init(bytesMax: Int, copiesVideo: Bool, copiesAudio: Bool) {
        self.bytesMax = bytesMax
        self.copiesVideo = copiesVideo
        self.copiesAudio = copiesAudio
        isRepair = false
    }
}

/// An audio file written as M4A or MP3, or a WAV whose header is completed.
public struct AudioRendition: Codable, Sendable, Hashable {
    public enum Format: String, Codable, Sendable, Hashable {
        /// AAC or ALAC in an M4A.
        case m4a
        case mp3
    }

    public var format: Format
    /// The limit for the file in decimal bytes. The bit rate is reduced first, then the length.
    public var bytesMax: Int
    /// Whether the stream can be copied.
    public var copies: Bool
    /// Whether the source is a WAV whose header lacks the number of samples, and is written with a complete header.
    public var completesWave: Bool
    /// The limit in bits per second; nil leaves it to the encoder's default quality.
    public var bitRateMax: Int?
    /// Whether the source is known to be damaged, so that it is read as far as possible.
    public var isRepair: Bool

    public init(_ format: Format = .m4a, bytesMax: Int, copies: Bool) {
        self.format = format
        self.bytesMax = bytesMax
        self.copies = copies
        completesWave = false
        isRepair = false
    }
}
