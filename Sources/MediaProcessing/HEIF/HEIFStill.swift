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
        guard let heif = try readable({ try PlainHEIF(window) }) else { return nil }
        try PictureLimits.check(width: heif.width, height: heif.height, format: format)
        guard let (planes, coding) = try readable({ try HEIFPixels.decode(heif, window, deadline: deadline) }),
            let colours = try readable({ try HEIFColours(heif, coding, window) })
        else { return nil }
        return PlanePicture(planes: colours.inSRGB(planes), orientation: heif.orientation)
    }

    /// Nil for a broken file: libheif, which takes more, has the last word on it.
    private static func readable<Result>(_ body: () throws -> Result?) throws -> Result? {
        do {
            return try body()
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            throw error
        } catch {
            return nil
        }
    }
}
