import AttachPrepModel
package import MediaEngine
import MediaLibraries
package import MediaTypes
import SafeArithmetic

/// The scaled size and crop of an image for its thumbnail's box; nothing is ever enlarged.
package struct ThumbnailGeometry: Sendable, Hashable {
    /// The size the whole image is reduced to.
    package let width: Int
    package let height: Int
    /// The part of it that is kept; nil for all of it.
    package let cut: PixelRect?

    /// The part that is kept, which may be all of it.
    var kept: PixelRect { cut ?? PixelRect(left: 0, top: 0, width: width, height: height) }

    /// The whole image in a size.
    init(whole size: (width: Int, height: Int)) {
        (width, height, cut) = (size.width, size.height, nil)
    }

    /// Pure: takes the upright image size and the box, in pixels.
    package init(imageWidth: Int, imageHeight: Int, box: ThumbnailRendition) {
        let (acrossRatio, downRatio) = (
            Double(box.width) / Double(imageWidth), Double(box.height) / Double(imageHeight)
        )
        let ratio = min(1, box.fit == .contain ? min(acrossRatio, downRatio) : max(acrossRatio, downRatio))
        width = max(1, Int(clamping: (Double(imageWidth) * ratio).rounded()))
        height = max(1, Int(clamping: (Double(imageHeight) * ratio).rounded()))
        let (keptWidth, keptHeight) = (min(width, box.width), min(height, box.height))
        let isWhole = keptWidth == width && keptHeight == height
        cut =
            isWhole
            ? nil
            : PixelRect(
                left: (width - keptWidth) / 2, top: (height - keptHeight) / 2, width: keptWidth, height: keptHeight)
    }
}
