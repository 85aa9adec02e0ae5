import JPEG
import LibAV
import RichPush

/// The picture of a plain HEIF, decoded by libav into the components it is coded in.
///
/// libheif knows more kinds, but decodes HEVC twice as slowly, and every tile to red, green and blue.
enum HEIFStill {
    /// Nil for what is not plain, or cannot be decoded so, which says nothing of the file.
    ///
    /// - Throws: `media.too_many_pixels`, `deadline.exceeded`.
    static func decode(source: CInt, format: MediaFormat, deadline: ContinuousClock.Instant) throws -> PlanePicture? {
        let window = try ByteWindow(descriptor: source, noun: "HEIF", deadline: deadline)
        guard let heif = try QuickWay.attempt({ try PlainHEIF(window) }) else { return nil }
        try PictureLimits.check(width: heif.width, height: heif.height, format: format)
        guard let (planes, coding) = try QuickWay.attempt({ try HEIFPixels.decode(heif, window, deadline: deadline) }),
            let colours = try QuickWay.attempt({ try HEIFColours(heif, coding, window) })
        else { return nil }
        return PlanePicture(planes: colours.inSRGB(planes), orientation: heif.orientation)
    }
}
