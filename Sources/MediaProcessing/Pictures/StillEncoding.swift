import RichPush
import Vips

/// A still written as JPEG, or as PNG when something in it is transparent.
enum StillEncoding {
    /// What came out, and what was given up for size.
    struct Result {
        let type: AttachmentType
        let bytes: [UInt8]
        let width: Int
        let height: Int
        let concessions: [String]
    }

    /// Above this a JPEG keeps its chroma whole and no loss is seen.
    static let fullQuality = 90
    /// A thumbnail is seen at 35 points.
    static let thumbnailQuality = 85
    /// Below this, blocks show: size gives way instead.
    private static let leastQuality = 50
    /// zlib's default; more costs twice the time for 2 %.
    private static let compression = 6
    /// Each step of size keeps 80 % of a side; 12 steps leave a fifteenth.
    private static let stepsMax = 12

    /// Encodes at full quality and, when that is over `bytesMax`, gives up quality first, then size.
    static func encode(_ picture: Picture, quality: Int, bytesMax: Int = .max) throws -> Result {
        let isTransparent = try picture.hasTransparency()
        let opaque = isTransparent ? picture : try picture.withoutAlpha()
        let whole = try encodeOnce(opaque, isTransparent: isTransparent, quality: quality)
        guard whole.count > bytesMax else {
            return result(whole, of: opaque, isTransparent: isTransparent, concessions: [])
        }
        return isTransparent
            ? try smaller(opaque, isTransparent: true, quality: quality, bytes: whole.count, bytesMax: bytesMax)
            : try coarser(opaque, quality: quality, bytesMax: bytesMax)
    }

    private static func encodeOnce(_ picture: Picture, isTransparent: Bool, quality: Int) throws -> [UInt8] {
        isTransparent
            ? try picture.png(compression: compression)
            : JPEGInterchange.withHeader(try picture.jpeg(quality: quality))
    }

    /// The best quality that fits, by halving the range; then, at the least quality, a smaller picture.
    private static func coarser(_ picture: Picture, quality: Int, bytesMax: Int) throws -> Result {
        let least = try encodeOnce(picture, isTransparent: false, quality: leastQuality)
        guard least.count <= bytesMax else {
            return try smaller(
                picture, isTransparent: false, quality: leastQuality, bytes: least.count, bytesMax: bytesMax)
        }
        var (low, high, best) = (leastQuality, quality, least)
        while high - low > 1 {
            let middle = (low + high) / 2
            let bytes = try encodeOnce(picture, isTransparent: false, quality: middle)
            if bytes.count <= bytesMax { (low, best) = (middle, bytes) } else { high = middle }
        }
        return result(
            best, of: picture, isTransparent: false,
            concessions: ["JPEG quality was lowered to \(low) to fit \(bytesMax) bytes"])
    }

    /// Bytes go with the area, so the square root of what is over says how much of a side can stay.
    private static func smaller(
        _ picture: Picture, isTransparent: Bool, quality: Int, bytes: Int, bytesMax: Int
    ) throws -> Result {
        var (scale, size) = (1.0, bytes)
        for _ in 0..<stepsMax {
            scale *= min(0.95, (Double(bytesMax) / Double(size)).squareRoot() * 0.97)
            let (width, height) = (scaled(picture.width, scale), scaled(picture.height, scale))
            let reduced = try picture.reduced(width: width, height: height).inMemory()
            let encoded = try encodeOnce(reduced, isTransparent: isTransparent, quality: quality)
            guard encoded.count > bytesMax else {
                let note = "the picture was reduced to \(reduced.width) x \(reduced.height) to fit \(bytesMax) bytes"
                return result(encoded, of: reduced, isTransparent: isTransparent, concessions: [note])
            }
            size = encoded.count
        }
        throw AttachPrepError(
            .limitExceeded, "The picture cannot be brought under \(bytesMax) bytes; raise --max-bytes.")
    }

    private static func scaled(_ side: Int, _ scale: Double) -> Int { max(1, Int(Double(side) * scale)) }

    private static func result(_ bytes: [UInt8], of picture: Picture, isTransparent: Bool, concessions: [String])
        -> Result
    {
        Result(
            type: isTransparent ? .png : .jpeg, bytes: bytes, width: picture.width, height: picture.height,
            concessions: concessions)
    }
}
