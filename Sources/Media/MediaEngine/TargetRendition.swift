/// A picture for another system than iOS, made of the image that the thumbnail shows: of a movie or an animation, that
/// frame.
public struct TargetRendition: Codable, Sendable, Hashable {
    /// What is done with an image whose proportions differ from those of the box. Nothing is enlarged.
    public enum Fit: String, Codable, Sendable, Hashable {
        /// All of the image is shown, inside the box.
        case whole
        /// The most salient part in the box's proportions is cut out.
        case smartCrop
    }

    /// What the file shows of the image.
    public enum Content: String, Codable, Sendable, Hashable {
        /// JPEG, or PNG where the image is transparent or smaller so.
        case picture
        /// PNG: white, with the image's transparency, or with its drawing where the background has one color.
        case silhouette
    }

    /// The key in `renditions` of a manifest, and the name of the file without its extension.
    public var key: String
    /// The box in pixels.
    public var width: Int
    public var height: Int
    public var fit: Fit
    public var content: Content
    /// The largest file that is delivered, in bytes.
    public var bytesMax: Int
    /// The bytes that encoding aims at: below them, no quality is given up.
    public var bytesAim: Int

    public init(
        _ key: String, width: Int, height: Int, fit: Fit = .smartCrop, content: Content = .picture, bytesMax: Int,
        bytesAim: Int
    ) {
        self.key = key
        (self.width, self.height) = (width, height)
        (self.fit, self.content) = (fit, content)
        (self.bytesMax, self.bytesAim) = (bytesMax, min(bytesAim, bytesMax))
    }

    /// The proportions of the box.
    public var ratio: AspectRatio { AspectRatio(width: width, height: height) }
}
