public import AttachPrepModel
public import MediaTypes

/// The result of a render.
public struct RenderedMedia: Codable, Sendable, Hashable {
    public var attachment: RenderedAttachment?
    public var thumbnail: RenderedImage?
    public var crop: RenderedImage?
    /// The pictures that were made for other systems, by key.
    public var targets: [String: RenderedImage]
    /// Why pictures are missing, by key: a `target.` code.
    public var missingTargets: [String: PreparationWarning.Code]
    /// Position of the frame shown, in the source; nil for a still.
    public var sourcePosition: MediaPosition?
    /// Position of the frame shown, in the attachment that was written; nil without one and for a still.
    public var attachmentPosition: MediaPosition?
    /// The part that was cut out, in the upright image.
    public var clippingRect: ClippingRect?
    /// Sentences about what a rendition gave up, for the manifest's reasons.
    public var reductions: [String]
    /// Warnings for the caller.
    public var warnings: [PreparationWarning]
    /// Whether the time budget forced less than was requested.
    public var isDegraded: Bool

    public init() {
        targets = [:]
        missingTargets = [:]
        reductions = []
        warnings = []
        isDegraded = false
    }
}

/// A position in a movie or an animation.
public enum MediaPosition: Codable, Sendable, Hashable {
    /// Presentation time in seconds, in the movie's own timeline.
    case seconds(Double)
    /// Frame number of an animation, from 0.
    case frame(Int)
}

public struct RenderedImage: Codable, Sendable, Hashable {
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

public struct RenderedAttachment: Codable, Sendable, Hashable {
    public var type: AttachmentType
    public var bytes: Int
    /// Pixels as displayed; nil for audio.
    public var width: Int?
    public var height: Int?
    /// Number of frames of an image; nil for movies and audio.
    public var frames: Int?
    /// Duration in seconds of movies, audio and animations.
    public var duration: Double?
    /// How the stored image must be rotated for display; `upright` unless a video stream was copied.
    public var orientation: Orientation

    public init(type: AttachmentType, bytes: Int) {
        self.type = type
        self.bytes = bytes
        orientation = .upright
    }

    /// A still attachment.
    public init(_ image: RenderedImage) {
        self.init(type: image.type, bytes: image.bytes)
        (width, height, frames) = (image.width, image.height, 1)
    }
}
