import AttachPrepModel
import MediaLibraries
package import MediaTypes
import SafeArithmetic

/// Rejects an image by its header, before any pixel is decoded.
package enum ImageLimits {
    /// Throws `media.too_many_pixels` over the limits, `media.corrupt` for an empty image.
    package static func check(width: Int, height: Int) throws {
        try check(width: width, height: height, pixelsMax: Limits.imagePixelsMax)
    }

    private static func check(width: Int, height: Int, pixelsMax: Int) throws {
        guard width > 0, height > 0 else {
            throw AttachPrepError(
                .mediaCorrupt, "The image header gives a size of \(width) x \(height) pixels; the file is corrupt.")
        }
        let isOver =
            width > Limits.imageSidePixelsMax || height > Limits.imageSidePixelsMax
            || width.multiplied(clamping: height) > pixelsMax
        guard !isOver else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The image is \(width) x \(height) pixels, over the limit of \(pixelsMax) "
                    + "(\(Limits.imageSidePixelsMax) a side); send a smaller one.")
        }
        WorkReporter.declare(pixels: width.multiplied(clamping: height))
    }

    /// The same with the higher limit of JPEG, which is decoded at a lower size, and the lower one of HEIC and AVIF,
    /// which need more memory a pixel.
    static func check(width: Int, height: Int, format: MediaFormat) throws {
        let isReducible = format == .jpeg
        try check(
            width: width, height: height, pixelsMax: isReducible ? Limits.reduciblePixelsMax : Limits.imagePixelsMax)
        guard [.heic, .avif].contains(format), width.multiplied(clamping: height) > Limits.heifPixelsMax else {
            return
        }
        throw AttachPrepError(
            .mediaTooManyPixels,
            "The \(format == .avif ? "AVIF" : "HEIC") is \(width) x \(height) pixels, over the limit of "
                + "\(Limits.heifPixelsMax.grouped); send a smaller one.")
    }

    /// The same for a HEIF that is decoded by the project's own reader, at half its size where it is large.
    static func check(_ heif: PlainHEIF, format: MediaFormat) throws {
        guard heif.isHalvable else {
            return try check(width: heif.grid.width, height: heif.grid.height, format: format)
        }
        try check(width: heif.grid.width, height: heif.grid.height, pixelsMax: Limits.reduciblePixelsMax)
    }

    /// Throws `media.too_many_pixels` when all frames together exceed the pixel limit for animations.
    package static func check(width: Int, height: Int, frames: Int) throws {
        try check(width: width, height: height)
        guard width.multiplied(clamping: height).multiplied(clamping: frames) <= Limits.animationPixelsMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The animation is \(frames) frames of \(width) x \(height) pixels, over the limit of "
                    + "\(Limits.animationPixelsMax) pixels in total; send fewer or smaller frames.")
        }
        WorkReporter.declare(pixels: width.multiplied(clamping: height), frames: frames)
    }

    /// The same for a GIF, whose frames may extend beyond its canvas.
    static func check(_ parser: GIFParser) throws {
        try check(width: parser.width, height: parser.height, frames: parser.frames)
        try check(width: parser.drawnWidth, height: parser.drawnHeight, frames: parser.frames)
    }
}

/// Estimates the memory of decoding a still, and how far it must be reduced while it is decoded.
struct DecodingMemory {
    /// Bytes a pixel that libwebp holds until a lossless image is decoded.
    static let webPBytesPerPixel = 4
    /// Peak bytes a pixel of libjxl 0.7, a little above what was measured on images of 20 megapixels: 8 with 8 bits; 37
    /// with 8 bits and alpha, or 28 with more bits; 53 with both.
    private static func jpegXLBytesPerPixel(hasAlpha: Bool, isDeep: Bool) -> Int {
        switch (hasAlpha, isDeep) {
        case (false, false): 14
        case (true, false), (false, true): 40
        case (true, true): 58
        }
    }

    /// Bytes of a DCT coefficient in libjpeg.
    private static let coefficientBytes = 2

    /// Bytes a pixel of an image in components: the components, a rotated copy, and RGB twice where a byte limit
    /// requires a smaller size.
    private static let componentBytesPerPixel = 10

    private let longSide: Int
    /// The share of its pixels that fits in memory.
    private let share: Double

    init(_ stored: Image, format: MediaFormat, source: CInt, deadline: ContinuousClock.Instant) throws {
        let pixels = stored.width * stored.height
        longSide = max(stored.width, stored.height)
        // A rotated image is in memory twice for a moment; so is what libwebp decodes, beside its own pixels.
        let copies = stored.orientation == 1 && format != .webp ? 1 : 2
        let taken = try Self.decoderBytes(stored, format: format, source: source, deadline: deadline)
        let available = min(Limits.imageMemoryBytesMax, Limits.imageDecodingBytesMax - taken)
        share = Double(available) / Double(pixels * (stored.hasAlpha ? 4 : 3) * copies)
    }

    /// Whether memory alone requires a reduction.
    var isShort: Bool { share < 1 }

    /// The longer side to reduce to; nil for the full size.
    func longSide(wanted: Int?) -> Int? {
        let held = share < 1 ? Int(clamping: Double(longSide) * share.squareRoot()) : longSide
        let side = min(held, wanted ?? .max)
        return side < longSide ? max(1, side) : nil
    }

    /// Whether an image fits in memory in components at full size, together with its coded bytes.
    static func holdsComponents(pixels: Int, codedBytes: Int) -> Bool {
        pixels * componentBytesPerPixel + codedBytes <= Limits.imageDecodingBytesMax
    }

    /// Bytes that the decoder holds beside the rows it returns.
    ///
    /// - Throws: `media.too_many_pixels` when they exceed the limit.
    static func decoderBytes(
        _ stored: Image, format: MediaFormat, source: CInt, deadline: ContinuousClock.Instant
    ) throws -> Int {
        try format.imageFormat?.decoderBytes(of: stored, source: source, deadline: deadline) ?? 0
    }

    /// Checks a JPEG XL before libjxl decodes it.
    ///
    /// - Throws: `media.too_many_pixels` when decoding may exceed the limit.
    static func check(_ header: JPEGXLHeader) throws {
        let bytesPerPixel = jpegXLBytesPerPixel(hasAlpha: header.hasAlpha, isDeep: header.bitDepth > 8)
        let bytes = header.width.multiplied(clamping: header.height).multiplied(clamping: bytesPerPixel)
        guard bytes <= Limits.jpegXLBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The JPEG XL image is \(header.width) x \(header.height) pixels and takes up to \(bytes.grouped) "
                    + "bytes to decode, over the limit of \(Limits.jpegXLBytesMax.grouped); send a smaller one.")
        }
    }

    /// Bytes that the loader holds of an interlaced PNG, whose rows are complete only at the end; 0 for others.
    ///
    /// - Throws: `media.too_many_pixels` when they exceed the limit.
    static func interlacedBytes(_ stored: Image) throws -> Int {
        guard stored.has("interlaced") else { return 0 }
        let bytes = stored.width * stored.height * stored.bands * stored.sampleBytes
        guard bytes <= Limits.interlacedBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The PNG is interlaced and takes \(bytes.grouped) bytes to decode, over the limit of "
                    + "\(Limits.interlacedBytesMax.grouped); send one that is not interlaced.")
        }
        return bytes
    }

    /// Bytes that libjpeg holds of a progressive JPEG; 0 for others.
    ///
    /// - Throws: `media.too_many_pixels` when they exceed the limit.
    static func coefficientBytes(_ window: ByteWindow) throws -> Int {
        // A file whose segments cannot be parsed may still decode; then decoding is tried.
        guard let header = try? JPEGSegments.parseHeader(window) else { return 0 }
        return try coefficientBytes(header)
    }

    /// The same for a parsed header.
    static func coefficientBytes(_ header: JPEGSegments) throws -> Int {
        guard header.isProgressive else { return 0 }
        let bytes = header.coefficients * coefficientBytes
        guard bytes <= Limits.jpegCoefficientBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The JPEG is progressive and has \(header.coefficients.grouped) coefficients, over the limit of "
                    + "\((Limits.jpegCoefficientBytesMax / coefficientBytes).grouped); send a baseline JPEG.")
        }
        return bytes
    }
}

extension Limits {
    /// Phones with 108 megapixels write 12,000 x 9,000; a media process may use the memory for that.
    package static let imagePixelsMax = 120_000_000
    /// Phones with 200 megapixels write 16,320 x 12,240; JPEGs and grids of HEIF tiles are reduced while they are
    /// decoded.
    static let reduciblePixelsMax = 210_000_000
    /// The largest side of a JPEG (65,500); libheif and WebP stop at 16,384.
    static let imageSidePixelsMax = 65_500
    /// Frames times pixels: 10 s of decoding at the measured 100 megapixels/s.
    static let animationPixelsMax = 1_000_000_000
    /// A decoded still and the copy needed to rotate it: a 108-megapixel JPEG fits; a rotated one is reduced.
    static let imageMemoryBytesMax = 360_000_000
    /// Coefficients of a progressive JPEG, which libjpeg keeps until the last scan: 110 megapixels with subsampled
    /// chroma.
    static let jpegCoefficientBytesMax = 330_000_000
    /// An interlaced PNG, which its loader keeps as a whole: 120 megapixels with alpha, or half of that with 16 bits.
    static let interlacedBytesMax = 480_000_000
    /// The same including the decoder's memory: coefficients of a progressive JPEG, pixels of a lossless WebP.
    static let imageDecodingBytesMax = 560_000_000
    /// What libjxl may take of a media process, which has 900 MB: 51 megapixels, 18 with alpha or more than 8 bits, 12
    /// with both.
    static let jpegXLBytesMax = 720_000_000
    /// libheif keeps decoded images in memory three times, 8 to 13 bytes per pixel measured; phones write 50
    /// megapixels.
    static let heifPixelsMax = 51_000_000
}
