import JPEG
import MediaEngine
import RichPush
import Vips

/// Attachment and thumbnail from a picture in components: nothing is converted that a JPEG stores the same way.
extension StillRendering {
    /// What chroma of half the size saves is worth a step of quality: no more bytes than with whole chroma, as near.
    private static let halvedQuality = 91
    /// Tables of its own make a JPEG 3 to 5 % smaller, and need all of its coefficients in memory meanwhile, 36 MB for
    /// what a phone takes.
    private static let optimizedPixelsMax = 6_000_000

    /// As `render` of pixels: what is shown first comes first.
    func render(_ picture: PlanePicture) throws -> RenderedMedia {
        guard request.crop == nil else { return try render(picture.picture()) }
        // Bounded throughout: the picture is in memory.
        var rendered = RenderedMedia()
        if let box = request.thumbnail {
            rendered.thumbnail = try writeThumbnail(
                picture.reduced(
                    to: ThumbnailGeometry(pictureWidth: picture.width, pictureHeight: picture.height, box: box)))
        }
        guard case .still(let rendition) = request.attachment else { return rendered }
        progress(rendered)
        if let written = try writeAttachment(picture, rendition) {
            rendered.attachment = RenderedAttachment(written)
        } else {
            let pace = EncodingPace(clock)
            pace.learn(pixels: picture.width * picture.height)
            try writeAttachment(picture.picture(), rendition, pace, in: &rendered)
        }
        return rendered
    }

    /// Nil when it has to give way to its limit or to time, which others know how to.
    private func writeAttachment(_ picture: PlanePicture, _ rendition: StillRendition) throws -> RenderedPicture? {
        // Bounded throughout: the picture is in memory.
        let pace = EncodingPace(clock)
        pace.learn(pixels: picture.width * picture.height)
        guard pace.allows(pixels: picture.width * picture.height) else { return nil }
        let (width, height, bytes) = try encode(picture, longSideMax: rendition.longSideMax ?? .max)
        guard bytes.count <= rendition.bytesMax else { return nil }
        try place(of: .attachment).write(bytes)
        return RenderedPicture(type: .jpeg, width: width, height: height, bytes: bytes.count)
    }

    private func encode(
        _ picture: PlanePicture, longSideMax: Int
    ) throws -> (width: Int, height: Int, bytes: [UInt8]) {
        guard max(picture.width, picture.height) > longSideMax else {
            let upright = picture.upright()
            let isWhole = picture.planes.allSatisfy { $0.width == picture.planes[0].width }
            // Bounded: the picture is in memory.
            let optimizes = picture.width * picture.height <= Self.optimizedPixelsMax
            let bytes = try JPEGEncoder.encode(
                planes: upright.planes, quality: isWhole ? StillEncoding.fullQuality : Self.halvedQuality,
                optimizes: optimizes)
            return (picture.width, picture.height, bytes)
        }
        let box = ThumbnailRendition(width: longSideMax, height: longSideMax, fit: .contain)
        let reduced = picture.reduced(
            to: ThumbnailGeometry(pictureWidth: picture.width, pictureHeight: picture.height, box: box))
        let bytes = try JPEGEncoder.encode(
            pixels: reduced.pixels, width: reduced.width, height: reduced.height, quality: StillLadder.reducedQuality,
            halvesChroma: true)
        return (reduced.width, reduced.height, bytes)
    }
}
