import MediaEngine
import RichPush
import Vips

/// A still as an attachment within its limits: which kind of file it becomes, and on which ladder it comes down.
struct StillLadder {
    /// A picture made smaller for its receiver needs no whole chroma.
    static let reducedQuality = 87

    let rendition: StillRendition
    /// Whether the source keeps every pixel and is itself attachable, so that this is worth some bytes.
    let isPNG: Bool
    /// Bytes of the source.
    let sourceBytes: Int
    let pace: EncodingPace

    /// - Parameter picture: Upright, in sRGB, in memory.
    func encode(_ picture: Picture) throws -> LadderResult {
        let isTransparent = try picture.hasTransparency()
        let limited = try (isTransparent ? picture : picture.withoutAlpha().inMemory())
            .limited(toLongSide: rendition.longSideMax)
        guard isPNG || isTransparent else {
            let isReduced = limited.width < picture.width || limited.height < picture.height
            return try JPEGLadder(bytesMax: rendition.bytesMax, full: full(isReduced), pace: pace).encode(limited)
        }
        return try PNGLadder(bytesMax: rendition.bytesMax, isTransparent: isTransparent, pace: pace)
            .encode(limited, wasOver: isPNG && sourceBytes > rendition.bytesMax)
    }

    private func full(_ isReduced: Bool) -> JPEGEncoding {
        isReduced
            ? JPEGEncoding(quality: Self.reducedQuality, halvesChroma: true)
            : JPEGEncoding(quality: StillEncoding.fullQuality, halvesChroma: false)
    }
}
