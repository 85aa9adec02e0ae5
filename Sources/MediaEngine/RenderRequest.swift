public import RichPush

/// Asks for renditions of a file that was inspected.
///
/// A still is decoded to its end in any case, so a truncated one ends as `media.corrupt`, whatever is asked for.
public struct RenderRequest: Codable, Sendable, Hashable {
    /// The format inspection found.
    public var format: MediaFormat
    /// How to write the attachment anew; nil when the source is delivered as it is.
    public var attachment: AttachmentRendition?
    /// The thumbnail, cut from the crop when there is one.
    public var thumbnail: ThumbnailRendition?
    /// The part of the upright picture to write at full resolution.
    public var crop: CropChoice?
    /// Which picture of the source thumbnail and crop show; where it stands in a new attachment is answered.
    public var picture: PictureChoice
    /// Whether the source is still written to; the last descriptor then says when there is more of it (`ArrivalWord`).
    /// Only a thumbnail can be made so, of some pictures; of others this fails, which says nothing of the file.
    public var isArriving: Bool

    public init(format: MediaFormat, picture: PictureChoice) {
        self.format = format
        self.picture = picture
        isArriving = false
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

/// Which part of a picture is cut out.
public enum CropChoice: Codable, Sendable, Hashable {
    /// That part of the upright picture.
    case part(ClippingRect)
    /// The part that is most worth seeing, as large as it can be in these proportions.
    case smart(AspectRatio)
}

/// Proportions of a picture: 16:9.
public struct AspectRatio: Codable, Sendable, Hashable {
    public var width: Int
    public var height: Int

    public static let square = AspectRatio(width: 1, height: 1)

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
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
    /// The one that stands best for a movie or an animation: not black, not a fade, not blurred.
    case representative
}

/// An output of a render.
public enum RenderOutput: Int, Codable, Sendable, Hashable, CaseIterable {
    case attachment
    case thumbnail
    case crop
}
