public import RichPush

/// What a render wrote.
public struct RenderedMedia: Codable, Sendable, Hashable {
    public var attachment: RenderedAttachment?
    public var thumbnail: RenderedPicture?
    public var crop: RenderedPicture?
    /// Where the picture that was shown stands in the source; nil for a still.
    public var sourcePosition: MediaPosition?
    /// Where it stands in the attachment that was written; nil when none was, or it is a still.
    public var attachmentPosition: MediaPosition?
    /// The part that was cut out, of the upright picture.
    public var clippingRect: ClippingRect?
    /// Sentences on what a rendition gave up, for the manifest's reasons.
    public var concessions: [String]
    /// What the caller should know.
    public var warnings: [PreparationWarning]
    /// Whether time forced less than was asked.
    public var isDegraded: Bool

    public init() {
        concessions = []
        warnings = []
        isDegraded = false
    }
}

/// A place in a movie or an animation.
public enum MediaPosition: Codable, Sendable, Hashable {
    /// Presentation time in seconds of the movie's own timeline.
    case seconds(Double)
    /// Frame number of an animation, from 0.
    case frame(Int)
}

/// A picture that was written.
public struct RenderedPicture: Codable, Sendable, Hashable {
    public var type: AttachmentType
    public var width: Int
    public var height: Int
    public var bytes: Int

    public init(type: AttachmentType, width: Int, height: Int, bytes: Int) {
        self.type = type
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}

/// An attachment that was written.
public struct RenderedAttachment: Codable, Sendable, Hashable {
    public var type: AttachmentType
    public var bytes: Int
    /// Pixels as displayed; nil for sound.
    public var width: Int?
    public var height: Int?
    /// Pictures of an image; nil for movies and sounds.
    public var frames: Int?
    /// Seconds of movies, sounds and animations.
    public var duration: Double?
    /// How the stored picture must be turned; other than upright only where a picture stream was copied.
    public var orientation: Orientation

    public init(type: AttachmentType, bytes: Int) {
        self.type = type
        self.bytes = bytes
        orientation = .upright
    }

    /// A still.
    public init(_ picture: RenderedPicture) {
        self.init(type: picture.type, bytes: picture.bytes)
        (width, height, frames) = (picture.width, picture.height, 1)
    }
}
