import RichPush
import SafeArithmetic
import Vips

/// A still written once, as JPEG, or as PNG when something in it is transparent: thumbnails and crops.
enum StillEncoding {
    /// Above this a JPEG keeps its chroma whole and no loss is seen.
    static let fullQuality = 90
    /// A thumbnail is seen at 35 points.
    static let thumbnailQuality = 85
    /// zlib's default; more costs twice the time for 2 %.
    static let compression = 6

    static func encode(_ picture: Picture, quality: Int) throws -> EncodedStill {
        if try picture.hasTransparency() {
            return EncodedStill(.png, try picture.pngFile(compression: compression), of: picture)
        }
        let encoding = JPEGEncoding(quality: quality, halvesChroma: quality < fullQuality)
        return EncodedStill(.jpeg, try picture.withoutAlpha().jpegFile(encoding), of: picture)
    }
}

extension Picture {
    /// Huffman tables of its own need all coefficients of a picture in memory, up to 6 bytes a pixel.
    static let optimizedPixelsMax = 24_000_000
    /// Pixels of the strip that tells which filters suit a PNG.
    private static let samplePixels = 500_000

    /// A JPEG that begins as JFIF.
    func jpegFile(_ encoding: JPEGEncoding) throws -> [UInt8] {
        var encoding = encoding
        if width.multiplied(clamping: height) > Self.optimizedPixelsMax {
            (encoding.optimizes, encoding.isProgressive) = (false, false)
        }
        return JPEGInterchange.withHeader(try jpeg(encoding))
    }

    /// A PNG with the row filters that suit it: photographs want them, drawings are smaller without.
    func pngFile(compression: Int) throws -> [UInt8] {
        // Bounded throughout: rows are no more than the height.
        let rows = max(1, min(height, Self.samplePixels / max(1, width)))
        let isWhole = rows == height
        let sample = isWhole ? self : try area(left: 0, top: (height - rows) / 2, width: width, height: rows)
        // At the level that counts: at a lower one smooth gradients seem to want filters that they do not.
        let plain = try sample.png(.direct(compression: compression, filters: false))
        let filtered = try sample.png(.direct(compression: compression, filters: true))
        if isWhole { return plain.count < filtered.count ? plain : filtered }
        return try png(.direct(compression: compression, filters: filtered.count < plain.count))
    }

    /// Reduced by a factor of both sides; in memory.
    func scaled(by scale: Double) throws -> Picture {
        guard scale < 1 else { return self }
        return try reduced(
            width: max(1, Int(clamping: (Double(width) * scale).rounded())),
            height: max(1, Int(clamping: (Double(height) * scale).rounded()))
        ).inMemory()
    }

    /// Reduced until its longer side has no more than so many pixels; in memory.
    func limited(toLongSide longSide: Int?) throws -> Picture {
        guard let longSide, max(width, height) > longSide else { return self }
        return try reduced(width: longSide, height: longSide).inMemory()
    }
}
