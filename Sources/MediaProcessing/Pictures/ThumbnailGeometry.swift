package import MediaEngine
package import RichPush
import SafeArithmetic

/// Where a picture goes in its thumbnail's box; nothing is ever enlarged.
package struct ThumbnailGeometry: Sendable, Hashable {
    /// The size the whole picture is reduced to.
    package let width: Int
    package let height: Int
    /// The part of it that is kept; nil for all of it.
    package let cut: PixelRect?

    /// The part of it that is kept, be it all of it.
    var kept: PixelRect { cut ?? PixelRect(left: 0, top: 0, width: width, height: height) }

    /// Pure: a picture's upright size and the box, in pixels.
    package init(pictureWidth: Int, pictureHeight: Int, box: ThumbnailRendition) {
        let (acrossRatio, downRatio) = (
            Double(box.width) / Double(pictureWidth), Double(box.height) / Double(pictureHeight)
        )
        let ratio = min(1, box.fit == .contain ? min(acrossRatio, downRatio) : max(acrossRatio, downRatio))
        width = max(1, Int(clamping: (Double(pictureWidth) * ratio).rounded()))
        height = max(1, Int(clamping: (Double(pictureHeight) * ratio).rounded()))
        // Bounded throughout: what is kept is no more than there is.
        let (keptWidth, keptHeight) = (min(width, box.width), min(height, box.height))
        let isWhole = keptWidth == width && keptHeight == height
        cut =
            isWhole
            ? nil
            : PixelRect(
                left: (width - keptWidth) / 2, top: (height - keptHeight) / 2, width: keptWidth, height: keptHeight)
    }
}
