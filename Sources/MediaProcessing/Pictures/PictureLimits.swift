import RichPush
import SafeArithmetic

/// Refuses a picture by its header, before a pixel of it is decoded.
package enum PictureLimits {
    /// Throws `media.too_many_pixels` over the limits, `media.corrupt` for an empty picture.
    package static func check(width: Int, height: Int) throws {
        guard width > 0, height > 0 else {
            throw AttachPrepError(.mediaCorrupt, "The picture says it is \(width) x \(height) pixels; it is broken.")
        }
        let isOver =
            width > Limits.pictureSidePixelsMax || height > Limits.pictureSidePixelsMax
            || width.multiplied(clamping: height) > Limits.picturePixelsMax
        guard !isOver else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The picture is \(width) x \(height) pixels, over the limit of \(Limits.picturePixelsMax) "
                    + "(\(Limits.pictureSidePixelsMax) a side); send a smaller one.")
        }
    }

    /// The same for a format that needs more memory a pixel than others.
    static func check(width: Int, height: Int, format: MediaFormat) throws {
        try check(width: width, height: height)
        guard [.heic, .avif].contains(format), width.multiplied(clamping: height) > Limits.heifPixelsMax else {
            return
        }
        throw AttachPrepError(
            .mediaTooManyPixels,
            "The \(format == .avif ? "AVIF" : "HEIC") is \(width) x \(height) pixels, over the limit of "
                + "\(Limits.heifPixelsMax.grouped); send a smaller one.")
    }

    /// Throws `media.too_many_pixels` when all frames together are more than we decode.
    package static func check(width: Int, height: Int, frames: Int) throws {
        try check(width: width, height: height)
        guard width.multiplied(clamping: height).multiplied(clamping: frames) <= Limits.animationPixelsMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The animation is \(frames) frames of \(width) x \(height) pixels, over the limit of "
                    + "\(Limits.animationPixelsMax) in all; send fewer or smaller frames.")
        }
    }

    /// The same for a GIF, whose frames may reach over its canvas.
    static func check(_ walk: GIFWalk) throws {
        try check(width: walk.width, height: walk.height, frames: walk.frames)
        try check(width: walk.drawnWidth, height: walk.drawnHeight, frames: walk.frames)
    }
}
