public import RichPush

/// Asks for renditions of a file that was inspected.
///
/// A still is decoded to its end in any case, so a truncated one ends as `media.corrupt`, whatever is asked for.
public struct RenderRequest: Codable, Sendable, Hashable {
    /// The format inspection found.
    public var format: MediaFormat
    /// How to write the attachment anew; nil when the source is delivered as it is.
    public var attachment: StillRendition?
    /// The thumbnail, cut from the crop when there is one.
    public var thumbnail: ThumbnailRendition?
    /// The part of the upright picture to write at full resolution.
    public var crop: ClippingRect?
    /// Which picture of the source thumbnail and crop show.
    public var picture: PictureChoice

    public init(format: MediaFormat, picture: PictureChoice) {
        self.format = format
        self.picture = picture
    }
}

extension RenderRequest {
    /// The outputs it asks for, in the order of their descriptors.
    public var outputs: [RenderOutput] {
        RenderOutput.allCases.filter { output in
            switch output {
            case .attachment: attachment != nil
            case .thumbnail: thumbnail != nil
            case .crop: crop != nil
            }
        }
    }
}

/// A still written anew: JPEG, or PNG when something in it is transparent.
public struct StillRendition: Codable, Sendable, Hashable {
    /// The file must not be larger; decimal bytes. Quality gives way first, then size.
    public var bytesMax: Int

    public init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }
}

/// A thumbnail's box in pixels.
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

/// How a picture meets its box; nothing is ever enlarged.
public enum ThumbnailFit: String, Codable, Sendable, Hashable, CaseIterable {
    /// Inside the box, without padding.
    case contain
    /// Fills the box, what hangs over is cut off.
    case cover
}

/// Which picture of a file.
public enum PictureChoice: Codable, Sendable, Hashable {
    /// The only one.
    case still
    /// A frame of an animated image, from 0.
    case animationFrame(Int)
    /// The frame a movie shows at that time: the last one whose presentation time is not later. Seconds.
    case movieTime(Double)
    /// The picture embedded in a sound.
    case coverArt
}

/// An output of a render.
public enum RenderOutput: Int, Codable, Sendable, Hashable, CaseIterable {
    case attachment
    case thumbnail
    case crop
}

/// What a render wrote.
public struct RenderedMedia: Codable, Sendable, Hashable {
    public var attachment: RenderedPicture?
    public var thumbnail: RenderedPicture?
    public var crop: RenderedPicture?
    /// Presentation time of the movie frame shown, in seconds of the movie's own timeline.
    public var movieTime: Double?
    /// Sentences on what a rendition gave up, for the manifest's reasons.
    public var concessions: [String]

    public init() {
        concessions = []
    }
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
