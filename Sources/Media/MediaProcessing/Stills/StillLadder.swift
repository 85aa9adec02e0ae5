import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Encodes a still as an attachment within its limits: selects the format and the ladder.
struct StillLadder {
    let rendition: StillRendition
    /// Whether the source is a PNG, whose exact pixels are worth some bytes.
    let isPNG: Bool
    let sourceBytes: Int
    let pace: EncodingPace

    /// - Parameter image: Upright, in sRGB, in memory.
    func encode(_ image: Image) throws -> LadderResult {
        if rendition.isJPEGOnly {
            let opaque = try image.flattened(onGray: 255).inMemory()
            return try jpeg(opaque.limited(toLongSide: rendition.longSideMax, inLight: true))
        }
        let isTransparent = try image.hasTransparency()
        let limited = try (isTransparent ? image : image.withoutAlpha().inMemory())
            .limited(toLongSide: rendition.longSideMax, inLight: true)
        guard isPNG || isTransparent else { return try jpeg(limited) }
        if isForDisplay, !isTransparent {
            return try Self.display(drawing: limited, bytesMax: rendition.bytesMax, pace: pace)
        }
        return try PNGLadder(bytesMax: rendition.bytesMax, isTransparent: isTransparent, pace: pace)
            .encode(limited, wasOver: isPNG && sourceBytes > rendition.bytesMax)
    }

    /// Only what is made for a display has a longest side.
    private var isForDisplay: Bool { rendition.longSideMax != nil }

    private func jpeg(_ opaque: Image) throws -> LadderResult {
        if isForDisplay {
            return try Self.display(HalvedChromaImage(opaque: opaque), bytesMax: rendition.bytesMax, pace: pace)
        }
        let full = JPEGEncoding(quality: StillEncoding.fullQuality, halvesChroma: false)
        return try JPEGLadder(bytesMax: rendition.bytesMax, full: full, pace: pace).encode(opaque)
    }

    /// A JPEG of the quality that can be seen, or below the limit.
    static func display(_ image: HalvedChromaImage, bytesMax: Int, pace: EncodingPace) throws -> LadderResult {
        let (bytes, quality) = try image.displayJPEG()
        guard bytes.count > bytesMax else {
            let still = EncodedImage(.jpeg, bytes, width: image.width, height: image.height)
            return LadderResult(still: still, reductions: [])
        }
        let full = JPEGEncoding(quality: quality, halvesChroma: true)
        return try JPEGLadder(bytesMax: bytesMax, full: full, pace: pace).encode(image.image())
    }

    /// The same of an opaque image that may be a drawing, whose exact pixels may take fewer bytes.
    static func display(drawing image: Image, bytesMax: Int, pace: EncodingPace) throws -> LadderResult {
        let jpeg = try display(HalvedChromaImage(opaque: image), bytesMax: bytesMax, pace: pace)
        guard try image.isDrawing() else { return jpeg }
        let exact = try LosslessPNG(image).encode(compression: StillEncoding.compression)
        guard exact.count < jpeg.still.bytes.count else { return jpeg }
        return LadderResult(still: EncodedImage(.png, exact, of: image), reductions: [])
    }
}

/// A still encoded below its limit, and the reductions this took.
struct LadderResult {
    var still: EncodedImage
    /// Phrases for the manifest's reasons.
    var reductions: [String]
}

/// A byte count as written in a reduction: `10,000,000 bytes`.
func bytesText(_ count: Int) -> String { "\(count.grouped) bytes" }

/// Encodes thumbnails and crops in one attempt: as JPEG, or as PNG when a pixel is transparent.
enum StillEncoding {
    /// From this quality on a JPEG keeps full chroma and no loss is visible.
    static let fullQuality = 90
    /// A thumbnail is displayed at 35 points.
    static let thumbnailQuality = 85
    /// zlib's default; the highest level takes twice the time for 2 %.
    static let compression = 6

    static func encode(_ image: Image, quality: Int) throws -> EncodedImage {
        if try image.hasTransparency() {
            return EncodedImage(.png, try image.pngFile(compression: compression), of: image)
        }
        let encoding = JPEGEncoding(quality: quality, halvesChroma: quality < fullQuality)
        return EncodedImage(.jpeg, try image.withoutAlpha().jpegFile(encoding), of: image)
    }
}

extension Image {
    /// Optimized Huffman tables keep all coefficients of an image in memory, up to 6 bytes a pixel.
    static let optimizedPixelsMax = 24_000_000

    /// A JPEG with a JFIF header.
    func jpegFile(_ encoding: JPEGEncoding) throws -> [UInt8] {
        var encoding = encoding
        if width.multiplied(clamping: height) > Self.optimizedPixelsMax {
            (encoding.optimizes, encoding.isProgressive) = (false, false)
        }
        return JFIFHeader.withHeader(try jpeg(encoding))
    }

    /// A PNG with row filters where they make it smaller: photographs need them, drawings are smaller without.
    ///
    /// Images of limited size are encoded by `PNGEncoder`, larger ones by libvips, which needs less memory.
    func pngFile(compression: Int) throws -> [UInt8] {
        guard sampleBytes == 1 else { return try png(.direct(compression: compression, filters: true)) }
        if let encoder = PNGEncoder(width: width, height: height, bands: bands) {
            return try withPixels { try encoder.encode($0, level: compression) }
        }
        let rows = min(height, PNGEncoder.sampleRows)
        let strip = try area(left: 0, top: (height - rows) / 2, width: width, height: rows)
        let filters = try strip.withPixels {
            try PNGEncoder.gainsFromFilters($0, width: width, bands: bands, level: compression)
        }
        return try png(.direct(compression: compression, filters: filters))
    }

    /// Reduced by a factor of both sides; in memory.
    func scaled(by scale: Double) throws -> Image {
        guard scale < 1 else { return self }
        return try reduced(
            width: max(1, Int(clamping: (Double(width) * scale).rounded())),
            height: max(1, Int(clamping: (Double(height) * scale).rounded()))
        ).inMemory()
    }

    /// Reduced until its longer side has at most `longSide` pixels; in memory.
    func limited(toLongSide longSide: Int?, inLight: Bool = false) throws -> Image {
        guard let longSide, max(width, height) > longSide else { return self }
        return try reduced(width: longSide, height: longSide, inLight: inLight).inMemory()
    }
}

/// The encoded file of a still.
struct EncodedImage {
    let type: AttachmentType
    let bytes: [UInt8]
    let width: Int
    let height: Int

    init(_ type: AttachmentType, _ bytes: [UInt8], of image: Image) {
        self.init(type, bytes, width: image.width, height: image.height)
    }

    init(_ type: AttachmentType, _ bytes: [UInt8], width: Int, height: Int) {
        self.type = type
        self.bytes = bytes
        (self.width, self.height) = (width, height)
    }
}

/// The JFIF header of a JPEG, which libvips omits.
///
/// Some device SDKs recognize a JPEG only by the bytes `FF D8 FF E0` (`docs/reference/apple-attachment-rules.md`, 2.2).
///
/// Source: JPEG File Interchange Format 1.02, "JFIF APP0 marker".
package enum JFIFHeader {
    /// APP0, 16 bytes long, version 1.01, square pixels without a unit, no thumbnail.
    static let segment: [UInt8] = [
        0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00,
    ]

    /// The same JPEG, beginning with SOI and APP0.
    package static func withHeader(_ jpeg: [UInt8]) -> [UInt8] {
        precondition(jpeg.starts(with: [0xFF, 0xD8]), "a JPEG begins with SOI")
        guard jpeg[3] != 0xE0 else { return jpeg }
        return jpeg[..<2] + segment + jpeg[2...]
    }
}
