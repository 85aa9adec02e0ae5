import AttachPrepModel
import Foundation
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Encodes a JPEG below a byte limit: lowers quality first, then size.
///
/// Measured on photographs, viewed at the 1,280 pixels of a phone: from quality 75 down, a smaller image of quality 75
/// to 90 is nearer to the original than a larger one of the same bytes (SSIM 0.978 against 0.972 and 0.884); at 1,280
/// pixels that holds from quality 60 down.
struct JPEGLadder {
    /// Quality limit for images larger than a phone shows; below it, size is reduced instead.
    private static let leastQuality = 75
    /// Quality limit for all images; below it, size is reduced.
    private static let leastShownQuality = 60
    /// With chroma halved; fills the gap below full quality with full chroma.
    static let mostQuality = 95
    /// Start quality of an image that is reduced, but not below what a phone shows.
    private static let shownQuality = 87
    /// Start quality of a smaller one.
    private static let reducedQuality = 74
    /// A result of at least this share of the limit is accepted.
    private static let nearShare = 0.94
    /// The share of the limit that the search aims at.
    private static let aimShare = 0.975
    private static let triesMax = 7
    private static let sizesMax = 12

    let bytesMax: Int
    let full: JPEGEncoding
    let pace: EncodingPace

    func encode(_ image: Image) throws -> LadderResult {
        let start = try affordable(image)
        let whole = try encode(start, encoding: full)
        if whole.count <= bytesMax {
            return LadderResult(
                still: EncodedImage(.jpeg, whole, of: start), reductions: sizeNote(start, original: image))
        }
        var curve = JPEGCurve()
        // Halved chroma takes about four fifths of the bytes.
        curve.record(quality: full.quality, bytes: Double(whole.count) * (full.halvesChroma ? 1 : 0.8))
        let least = Self.leastQuality(start)
        if curve.quality(forBytes: target) >= Double(least), let found = try search(start, curve: &curve, from: least) {
            return result(found, of: start, original: image)
        }
        return try reduce(start, curve: curve, original: image)
    }

    private static func leastQuality(_ image: Image) -> Int {
        max(image.width, image.height) > PNGLadder.shownLongSide ? leastQuality : leastShownQuality
    }

    private var target: Double { Double(bytesMax) * Self.aimShare }

    /// Reduces an image at once if there is no time to encode it at full size.
    private func affordable(_ image: Image) throws -> Image {
        guard !pace.allows(image) else { return image }
        let share = Double(pace.pixelsAllowed) / Double(image.width * image.height)
        return try image.scaled(by: min(1, max(0.05, share.squareRoot())))
    }

    private typealias Attempt = (quality: Int, bytes: [UInt8])

    /// The best quality that fits, by successive predictions; nil when not even the lowest fits.
    private func search(_ image: Image, curve: inout JPEGCurve, from least: Int) throws -> Attempt? {
        var (low, high) = (least - 1, Self.mostQuality + 1)
        var best: Attempt?
        for _ in 0..<Self.triesMax where high - low > 1 {
            if best != nil || low < least, !pace.allows(image), best != nil { break }
            let guess = Int(clamping: curve.quality(forBytes: target))
            let quality = min(max(guess, low + 1), high - 1)
            let bytes = try encode(image, encoding: .coarse(quality))
            curve.record(quality: quality, bytes: Double(bytes.count))
            if bytes.count > bytesMax {
                high = quality
            } else {
                (low, best) = (quality, (quality, bytes))
                if Double(bytes.count) >= Double(bytesMax) * Self.nearShare { break }
            }
        }
        return best
    }

    /// Reduces an image that is larger than a phone shows before its quality is lowered.
    private func reduce(_ image: Image, curve: JPEGCurve, original: Image) throws -> LadderResult {
        let shown = Double(PNGLadder.shownLongSide) / Double(max(image.width, image.height))
        if shown < 1,
            let found = try sized(
                image, curve: curve, quality: Self.shownQuality, leastScale: shown, original: original)
        {
            return found
        }
        let further = try sized(
            image, curve: curve, quality: Self.reducedQuality, leastScale: 0, original: original)
        guard let further else { throw tooSmall(bytesMax) }
        return further
    }

    /// Finds the size that fits at a decent quality, then the best quality at that size; nil when not even the smallest
    /// size fits.
    private func sized(
        _ image: Image, curve start: JPEGCurve, quality: Int, leastScale: Double, original: Image
    ) throws -> LadderResult? {
        var sizes = SizePrediction(whole: start.bytes(atQuality: Double(quality)))
        for count in 1...Self.sizesMax {
            let next = max(sizes.scale(forBytes: target), leastScale)
            let pixels = Int(clamping: Double(image.width) * Double(image.height) * next * next)
            // Without time for another attempt, this one must fit.
            let isLast = !pace.allows(pixels: pixels, effort: 3)
            let scale = min(isLast ? next * 0.85 : next, 0.98)
            let reduced = try image.scaled(by: scale)
            let first = try encode(reduced, encoding: .coarse(quality))
            sizes.record(scale: scale, bytes: Double(first.count))
            let share = Double(first.count) / Double(bytesMax)
            if share <= 1, share >= Self.nearShare || isLast {
                return result((quality, first), of: reduced, original: original)
            }
            guard Self.qualityReach.contains(share) || scale <= leastScale || count == Self.sizesMax else { continue }
            var curve = JPEGCurve()
            curve.record(quality: quality, bytes: Double(first.count))
            if let found = try search(reduced, curve: &curve, from: Self.leastQuality(reduced)) {
                return result(found, of: reduced, original: original)
            }
            if scale <= leastScale { return nil }
        }
        return nil
    }

    /// Shares of the limit from which a change of quality can reach it.
    private static let qualityReach = 0.75...1.1

    private func encode(_ image: Image, encoding: JPEGEncoding) throws -> [UInt8] {
        try pace.measure(image) { try image.jpegFile(encoding) }
    }

    private func result(_ found: Attempt, of image: Image, original: Image) -> LadderResult {
        let note = "JPEG quality was lowered to \(found.quality) to fit \(bytesText(bytesMax))"
        return LadderResult(
            still: EncodedImage(.jpeg, found.bytes, of: image),
            reductions: sizeNote(image, original: original) + (found.quality < full.quality ? [note] : []))
    }

    private func sizeNote(_ image: Image, original: Image) -> [String] {
        image.width == original.width && image.height == original.height
            ? [] : [reducedNote(image, bytesMax: bytesMax)]
    }
}

extension JPEGEncoding {
    /// Progressive with halved chroma, for files under a byte limit.
    fileprivate static func coarse(_ quality: Int) -> JPEGEncoding {
        JPEGEncoding(quality: quality, halvesChroma: true, isProgressive: true)
    }
}

/// Describes a reduction of size for `reductions`.
func reducedNote(_ image: Image, bytesMax: Int) -> String {
    "the image was reduced to \(image.width) x \(image.height) to fit \(bytesText(bytesMax))"
}

/// The error when no encoding fits.
func tooSmall(_ bytesMax: Int) -> AttachPrepError {
    AttachPrepError(
        .limitExceeded, "The image cannot be reduced below \(bytesText(bytesMax)); raise its limit (maxBytes).")
}
