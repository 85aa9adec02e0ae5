import Foundation
import MediaLibraries
import MediaTypes

/// Encodes a PNG below a byte limit in steps, lossless ones first.
///
/// First it is compressed harder. Then its colors are reduced to a palette where that is barely visible, or it is made
/// smaller, but not below what a phone shows. Last, an opaque image becomes a JPEG, and a transparent one is reduced
/// until it fits.
struct PNGLadder {
    /// Long side in pixels that a phone shows at full width; any reduction below it is visible.
    static let shownLongSide = 1_280
    /// zlib's highest level.
    private static let bestCompression = 9
    /// Time of the highest level, as a multiple of the usual one.
    private static let bestEffort = 5.0
    /// The highest level saves no more than a tenth.
    private static let optimizedGainMax = 1.1
    /// Mean squared error of a palette, in 8-bit steps, that is barely visible: 38 dB.
    private static let imperceptibleError = 10.0
    /// Time of compressing, as a multiple of decoding: zlib compresses about ten times slower than it decompresses.
    private static let packingEffort = 10.0
    /// Time of making a palette, as a multiple of decoding, or of compressing if that was not tried before.
    private static let paletteEffort = 7.0

    let bytesMax: Int
    let isTransparent: Bool
    let pace: EncodingPace

    /// - Parameter wasOver: Whether the source was over the limit, so that harder compression is reported.
    func encode(_ image: Image, wasOver: Bool) throws -> LadderResult {
        let exact = try pace.allows(image, effort: Self.packingEffort) ? exactFile(image) : nil
        if let exact, exact.count <= bytesMax {
            return LadderResult(
                still: EncodedImage(.png, exact, of: image),
                reductions: wasOver ? ["the PNG was losslessly recompressed to fit \(bytesText(bytesMax))"] : [])
        }
        if let found = try palette(image) ?? smallerExact(image, known: exact?.count) { return found }
        return isTransparent ? try smallPalette(image) : try jpeg(image)
    }

    // MARK: Lossless

    /// Compressed as usual, and at the highest level where that may be enough.
    private func exactFile(_ image: Image) throws -> [UInt8] {
        let exact = try LosslessPNG(image)
        let usual = try pace.measure(image) { try exact.encode(compression: StillEncoding.compression) }
        let mayFit = usual.count > bytesMax && Double(usual.count) <= Double(bytesMax) * Self.optimizedGainMax
        guard mayFit, pace.allows(image, effort: Self.bestEffort) else { return usual }
        return try exact.encode(compression: Self.bestCompression)
    }

    private func smallerExact(_ image: Image, known: Int?) throws -> LadderResult? {
        guard let known else { return nil }
        let search = SizeSearch(bytesMax: bytesMax, longSideMin: Self.shownLongSide, pace: pace)
        let found = try search.largest(image, known: known) {
            try LosslessPNG($0).encode(compression: StillEncoding.compression)
        }
        return found.map {
            LadderResult(
                still: EncodedImage(.png, $0.bytes, of: $0.image),
                reductions: [reducedNote($0.image, bytesMax: bytesMax)])
        }
    }

    // MARK: With a palette

    private func palette(_ image: Image) throws -> LadderResult? {
        let shown = try image.limited(toLongSide: Self.shownLongSide)
        // Tested at a small size, which also predicts the time for the whole image.
        guard pace.allows(shown, effort: Self.paletteEffort), try isPaletteImperceptible(shown), pace.allows(image)
        else { return nil }
        let bytes = try pace.measure(image) { try Self.paletteFile(image) }
        if bytes.count <= bytesMax {
            return paletteResult(SizeSearch.Found(image: image, bytes: bytes), of: image)
        }
        let search = SizeSearch(bytesMax: bytesMax, longSideMin: Self.shownLongSide, pace: pace)
        return try search.largest(image, known: bytes.count, encode: Self.paletteFile).map {
            paletteResult($0, of: image)
        }
    }

    private func smallPalette(_ image: Image) throws -> LadderResult {
        let start = try pace.allows(image, effort: Self.paletteEffort) ? image : affordable(image)
        let bytes = try pace.measure(start) { try Self.paletteFile(start) }
        if bytes.count <= bytesMax { return paletteResult(SizeSearch.Found(image: start, bytes: bytes), of: image) }
        let search = SizeSearch(bytesMax: bytesMax, longSideMin: 1, pace: pace)
        guard let found = try search.largest(start, known: bytes.count, encode: Self.paletteFile) else {
            throw tooSmall(bytesMax)
        }
        return paletteResult(found, of: image)
    }

    private func paletteResult(_ found: SizeSearch.Found, of original: Image) -> LadderResult {
        let isReduced = found.image.width < original.width || found.image.height < original.height
        return LadderResult(
            still: EncodedImage(.png, found.bytes, of: found.image),
            reductions: [paletteNote] + (isReduced ? [reducedNote(found.image, bytesMax: bytesMax)] : []))
    }

    private func affordable(_ image: Image) throws -> Image {
        let share = Double(pace.pixelsAllowed) / Self.paletteEffort / Double(image.width * image.height)
        return try image.scaled(by: min(1, max(0.05, share.squareRoot())))
    }

    private var paletteNote: String {
        "the PNG's colors were reduced to a palette of 256 to fit \(bytesText(bytesMax))"
    }

    private static func paletteFile(_ image: Image) throws -> [UInt8] {
        try image.png(.palette(bits: 8, dithers: true, compression: bestCompression))
    }

    /// Compared at the size a phone shows, over gray where it is transparent.
    private func isPaletteImperceptible(_ image: Image) throws -> Bool {
        let file = try pace.measure(image) { try Self.paletteFile(image) }
        let quantized = try Image.open(encoded: file).inSRGB().flattened(onGray: 128)
        let original = try image.flattened(onGray: 128)
        guard quantized.bands == original.bands else { return false }
        return try quantized.meanSquaredDifference(from: original) <= Self.imperceptibleError
    }

    // MARK: Lossy

    private func jpeg(_ image: Image) throws -> LadderResult {
        let full = JPEGEncoding(quality: StillEncoding.fullQuality, halvesChroma: false)
        var result = try JPEGLadder(bytesMax: bytesMax, full: full, pace: pace).encode(image)
        result.reductions.insert("the PNG became a JPEG to fit \(bytesText(bytesMax))", at: 0)
        return result
    }
}

/// The smallest PNG that keeps every pixel: gray where all pixels are gray, a palette where 256 colors are enough.
struct LosslessPNG {
    /// The image for direct storage: without an opaque alpha band, gray where all pixels are gray.
    let image: Image
    private let colorCount: ColorCount

    init(_ opaque: Image) throws {
        colorCount = try ColorCount(opaque)
        image = colorCount.isGray && opaque.bands >= 3 ? try opaque.asGray() : opaque
        original = opaque
    }

    private let original: Image

    /// - Parameter compression: zlib's level, 0 to 9.
    func encode(compression: Int) throws -> [UInt8] {
        if let exact = try palette(compression: compression) { return exact }
        return try image.pngFile(compression: compression)
    }

    /// Up to this many grays a palette is smaller; more compress better with row filters.
    private static let graysMax = 16

    private func palette(compression: Int) throws -> [UInt8]? {
        guard let colors = colorCount.colors, !colorCount.isGray || colors <= Self.graysMax else { return nil }
        let bits = colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8
        let bytes = try original.png(.palette(bits: bits, dithers: false, compression: compression))
        // The quantizer does not guarantee exactness, so the result is compared.
        let shown = try Image.open(encoded: bytes).inSRGB()
        guard shown.bands == original.bands, try shown.meanSquaredDifference(from: original) == 0 else { return nil }
        return bytes
    }
}

/// Counts the colors of an image, up to the size of a palette.
struct ColorCount {
    /// The maximum size of a PNG's palette.
    static let paletteMax = 256

    /// Number of colors, including alpha; nil for more than a palette holds.
    let colors: Int?
    /// Whether red, green and blue are equal everywhere.
    let isGray: Bool

    /// Reads the pixels until both properties are known.
    init(_ image: Image) throws {
        let bands = image.bands
        guard bands >= 3 else {
            (colors, isGray) = (nil, true)
            return
        }
        let found = try image.withPixels { Self.count($0, bands: bands) }
        (colors, isGray) = (found.colors, found.isGray)
    }

    private static func count(_ pixels: RawSpan, bands: Int) -> (colors: Int?, isGray: Bool) {
        var seen: Set<UInt32> = []
        var last: UInt32?
        var isGray = true
        for offset in stride(from: 0, to: pixels.byteCount, by: bands) {
            let (red, green, blue) = (pixels.byte(offset), pixels.byte(offset + 1), pixels.byte(offset + 2))
            if red != green || green != blue { isGray = false }
            let alpha = bands == 4 ? pixels.byte(offset + 3) : 255
            let color = UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha)
            if color == last { continue }
            last = color
            if seen.count <= paletteMax { seen.insert(color) }
            if seen.count > paletteMax, !isGray { return (nil, false) }
        }
        return (seen.count > paletteMax ? nil : seen.count, isGray)
    }
}

extension RawSpan {
    func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
