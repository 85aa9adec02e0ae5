import MediaEngine
import RichPush
import Vips

/// The part of a picture that is most worth seeing, as large as it can be in given proportions.
enum SmartCrop {
    /// The longer side of the copy that is looked at: faces of a group are a dozen pixels on it.
    private static let lookedAtSide = 192

    /// Deterministic; the whole picture when its own proportions are those wanted.
    static func rect(of picture: Picture, ratio: AspectRatio) throws -> ClippingRect {
        let window = CropWindow(width: picture.width, height: picture.height, ratio: ratio)
        guard window.slack > 0 else { return try window.rect(at: 0) }
        let small = try picture.limited(toLongSide: lookedAtSide).flattened(onGrey: 128).inMemory()
        let pixels = try small.withPixels { span in (0..<span.byteCount).map { span.byte($0) } }
        let map = Saliency(pixels: pixels, width: small.width, height: small.height, bands: small.bands)
        return try window.rect(at: window.best(in: map))
    }
}
