import JPEG
import RichPush
import WebP

/// The picture of a plain WebP, in the components it is coded in.
///
/// libvips knows more kinds, but has every one of them turned to red, green and blue, and back for the JPEG.
enum WebPStill {
    /// Nil for what is not plain, takes too much memory, or cannot be decoded so, which says nothing of the file.
    ///
    /// - Throws: `media.too_many_pixels`, `deadline.exceeded`.
    static func decode(source: CInt, deadline: ContinuousClock.Instant) throws -> PlanePicture? {
        let window = try ByteWindow(descriptor: source, noun: "WebP", deadline: deadline)
        guard let webP = try QuickWay.attempt({ try PlainWebP(window) }) else { return nil }
        try PictureLimits.check(width: webP.width, height: webP.height)
        // Bounded: `PictureLimits` have been checked.
        guard StillMemory.holdsComponents(pixels: webP.width * webP.height, codedBytes: webP.picture.count) else {
            return nil
        }
        return try QuickWay.attempt {
            var components = try WebPDecoder.decode(
                window.all(in: webP.picture), width: webP.storedWidth, height: webP.storedHeight
            ) { try checkDeadline(deadline) }
            SampleRange.spread(&components.luma, .luma)
            SampleRange.spread(&components.blue, .chroma)
            SampleRange.spread(&components.red, .chroma)
            return PlanePicture(planes: planes(of: components), orientation: webP.orientation)
        }
    }

    private static func planes(of components: WebPComponents) -> [JPEGPlane] {
        let (width, height) = (components.width, components.height)
        let chroma = (WebPComponents.chroma(width), WebPComponents.chroma(height))
        return [
            JPEGPlane(width: width, height: height, samples: components.luma),
            JPEGPlane(width: chroma.0, height: chroma.1, samples: components.blue),
            JPEGPlane(width: chroma.0, height: chroma.1, samples: components.red),
        ]
    }
}
