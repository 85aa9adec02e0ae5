public import RichPush

/// How to write the attachment anew.
///
/// Everything but a still takes long, so it is rendered in a call of its own, without thumbnail and crop.
public enum AttachmentRendition: Codable, Sendable, Hashable {
    /// JPEG, or PNG when something in it is transparent.
    case still(StillRendition)
    /// GIF, with the delays and loops of its source.
    case animation(AnimationRendition)
    /// MP4: H.264 and AAC, index in front. The source may be an animated image.
    case movie(MovieRendition)
    /// M4A.
    case sound(SoundRendition)
}

extension AttachmentRendition {
    /// What the notification shows it as.
    public var kind: MediaKind {
        switch self {
        case .still, .animation: .image
        case .movie: .movie
        case .sound: .audio
        }
    }

    /// The file must not be larger; decimal bytes.
    public var bytesMax: Int {
        switch self {
        case .still(let still): still.bytesMax
        case .animation(let animation): animation.bytesMax
        case .movie(let movie): movie.bytesMax
        case .sound(let sound): sound.bytesMax
        }
    }

    /// The same within other bytes.
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
        case .sound(var sound):
            sound.bytesMax = bytesMax
            return .sound(sound)
        }
    }

    /// Whether every stream is copied: that takes as long as reading the file.
    public var isCopy: Bool {
        switch self {
        case .movie(let movie): movie.copiesVideo && movie.copiesAudio
        case .sound(let sound): sound.copies || sound.completesWave
        case .still, .animation: false
        }
    }
}

/// A still written anew: JPEG, or PNG when something in it is transparent or was lossless and can stay so.
public struct StillRendition: Codable, Sendable, Hashable {
    /// The file must not be larger; decimal bytes. Quality gives way first, then size.
    public var bytesMax: Int
    /// Pixels of the longer side at most; nil leaves the size.
    public var longSideMax: Int?
    /// Whether the source is known to be damaged: it is read as far as it goes.
    public var isRepair: Bool

    public init(bytesMax: Int, longSideMax: Int? = nil) {
        self.bytesMax = bytesMax
        self.longSideMax = longSideMax
        isRepair = false
    }
}

/// An animation written as GIF.
public struct AnimationRendition: Codable, Sendable, Hashable {
    /// The file must not be larger; decimal bytes. Exactness gives way first, then colours, frames and size.
    public var bytesMax: Int
    /// Pixels of the longer side at most; nil leaves the size.
    public var longSideMax: Int?

    public init(bytesMax: Int, longSideMax: Int? = nil) {
        self.bytesMax = bytesMax
        self.longSideMax = longSideMax
    }
}

/// A movie written as MP4.
public struct MovieRendition: Codable, Sendable, Hashable {
    /// The file must not be larger; decimal bytes. Quality gives way first, then size, frame rate and length.
    public var bytesMax: Int
    /// Whether the picture stream fits as it is; encoded all the same where it cannot be muxed.
    public var copiesVideo: Bool
    /// Whether the sound stream fits as it is.
    public var copiesAudio: Bool
    /// Pixels of the longer and the shorter side as displayed, at most; nil leaves the size.
    public var longSideMax: Int?
    public var shortSideMax: Int?
    /// Frames a second at most; nil leaves the rate.
    public var frameRateMax: Double?
    /// Bits a second of sound at most; nil leaves it to the encoder's good quality.
    public var audioBitRateMax: Int?
    /// Whether the source is known to be damaged: it is read as far as it goes.
    public var isRepair: Bool

    public init(bytesMax: Int, copiesVideo: Bool, copiesAudio: Bool) {
        self.bytesMax = bytesMax
        self.copiesVideo = copiesVideo
        self.copiesAudio = copiesAudio
        isRepair = false
    }
}

/// A sound written as M4A, or a WAV whose header is completed.
public struct SoundRendition: Codable, Sendable, Hashable {
    /// The file must not be larger; decimal bytes. The bit rate gives way first, then the length.
    public var bytesMax: Int
    /// Whether the stream fits as it is.
    public var copies: Bool
    /// Whether the source is a WAV that does not say how many samples it holds, and is written with a header that does.
    public var completesWave: Bool
    /// Bits a second at most; nil leaves it to the encoder's good quality.
    public var bitRateMax: Int?
    /// Whether the source is known to be damaged: it is read as far as it goes.
    public var isRepair: Bool

    public init(bytesMax: Int, copies: Bool) {
        self.bytesMax = bytesMax
        self.copies = copies
        completesWave = false
        isRepair = false
    }
}
