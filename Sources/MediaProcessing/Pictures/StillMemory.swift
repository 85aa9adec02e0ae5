import RichPush
import SafeArithmetic
import Vips

/// What a still takes in memory, and how far it has to be reduced while it is decoded.
struct StillMemory {
    /// What libwebp holds of a lossless picture until it is through.
    private static let webPBytesPerPixel = 4
    /// Bytes of a coefficient in libjpeg.
    private static let coefficientBytes = 2

    /// Bytes a pixel of a picture in components: them, turned as well, and red, green and blue twice where a limit
    /// makes it smaller than it came out.
    private static let componentBytesPerPixel = 10

    // Bounded throughout: `PictureLimits` have been checked, a pixel has at most eight bytes, coefficients stay below
    // 2^50 (`JPEGSegments`), and what is taken below the limit of each kind.

    private let longSide: Int
    /// The share of its pixels that may be in memory.
    private let share: Double

    init(_ stored: Picture, format: MediaFormat, source: CInt, deadline: ContinuousClock.Instant) throws {
        let pixels = stored.width * stored.height
        longSide = max(stored.width, stored.height)
        // What is turned is in memory twice, for a moment; so is what libwebp decodes, with its own pixels beside.
        let copies = stored.orientation == 1 && format != .webp ? 1 : 2
        let taken = try Self.decoderBytes(stored, format: format, source: source, deadline: deadline)
        let room = min(Limits.pictureMemoryBytesMax, Limits.pictureDecodingBytesMax - taken)
        share = Double(room) / Double(pixels * (stored.hasAlpha ? 4 : 3) * copies)
    }

    /// Whether it has to be reduced for memory alone.
    var isShort: Bool { share < 1 }

    /// The longer side to reduce to; nil to leave the size.
    func longSide(wanted: Int?) -> Int? {
        let held = share < 1 ? Int(clamping: Double(longSide) * share.squareRoot()) : longSide
        let side = min(held, wanted ?? .max)
        return side < longSide ? max(1, side) : nil
    }

    /// Whether a picture fits in components, at full size, beside the bytes it is coded in.
    static func holdsComponents(pixels: Int, codedBytes: Int) -> Bool {
        pixels * componentBytesPerPixel + codedBytes <= Limits.pictureDecodingBytesMax
    }

    /// What the decoder holds of a picture beside the rows it gives.
    ///
    /// - Throws: `media.too_many_pixels` when that is more than we give it.
    static func decoderBytes(
        _ stored: Picture, format: MediaFormat, source: CInt, deadline: ContinuousClock.Instant
    ) throws -> Int {
        switch format {
        case .jpeg: try coefficientBytes(ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline))
        case .png: try interlacedBytes(stored)
        case .webp: stored.width * stored.height * webPBytesPerPixel
        default: 0
        }
    }

    /// What the loader holds of an interlaced PNG, whose last row is whole only at its end; 0 for others.
    ///
    /// - Throws: `media.too_many_pixels` when that is more than we give it.
    private static func interlacedBytes(_ stored: Picture) throws -> Int {
        guard stored.has("interlaced") else { return 0 }
        let bytes = stored.width * stored.height * stored.bands * (stored.colour.hasSuffix("16") ? 2 : 1)
        guard bytes <= Limits.interlacedBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The PNG is interlaced and takes \(bytes.grouped) bytes to decode, over the limit of "
                    + "\(Limits.interlacedBytesMax.grouped); send one that is not interlaced.")
        }
        return bytes
    }

    /// What libjpeg holds of a progressive JPEG; 0 for others.
    ///
    /// - Throws: `media.too_many_pixels` when that is more than we give it.
    static func coefficientBytes(_ window: ByteWindow) throws -> Int {
        // What cannot be walked may still decode; then the decoder has the word.
        guard let header = try? JPEGSegments.walkHeader(window) else { return 0 }
        return try coefficientBytes(header)
    }

    /// The same of a header that was walked.
    static func coefficientBytes(_ header: JPEGSegments) throws -> Int {
        guard header.isProgressive else { return 0 }
        let bytes = header.coefficients * coefficientBytes
        guard bytes <= Limits.jpegCoefficientBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The JPEG is progressive, of \(header.coefficients.grouped) coefficients, over the limit of "
                    + "\((Limits.jpegCoefficientBytesMax / coefficientBytes).grouped); send a baseline JPEG.")
        }
        return bytes
    }
}
