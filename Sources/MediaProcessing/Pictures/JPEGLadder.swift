import Foundation
import RichPush
import SafeArithmetic
import Vips

/// A JPEG brought under its limit: quality gives way first, then size.
///
/// Measured on photographs, seen at the 1,280 pixels of a phone: from quality 75 down a smaller picture of quality 75
/// to 90 is nearer to the original than a larger one of the same bytes (SSIM 0.978 against 0.972 and 0.884); at 1,280
/// pixels that is so from 60 down.
struct JPEGLadder {
    /// Below this, size gives way instead, as long as there is more of it than a phone shows.
    private static let leastQuality = 75
    /// Below this, size gives way in any case.
    private static let leastShownQuality = 60
    /// With chroma halved; fills the gap below full quality with whole chroma.
    static let mostQuality = 95
    /// What a picture begins with that is reduced, but to no less than a phone shows.
    private static let shownQuality = 87
    /// What a smaller one begins with.
    private static let reducedQuality = 74
    /// A result within these hundredths of the limit is near enough.
    private static let nearShare = 0.94
    /// Where the search aims, as a share of the limit.
    private static let aimShare = 0.975
    private static let triesMax = 7
    private static let sizesMax = 12

    let bytesMax: Int
    let full: JPEGEncoding
    let pace: EncodingPace

    func encode(_ picture: Picture) throws -> LadderResult {
        let start = try affordable(picture)
        let whole = try encode(start, full)
        if whole.count <= bytesMax {
            return LadderResult(still: EncodedStill(.jpeg, whole, of: start), concessions: sizeNote(start, picture))
        }
        var curve = JPEGCurve()
        // Halved chroma takes about four fifths of the bytes.
        curve.learn(quality: full.quality, bytes: Double(whole.count) * (full.halvesChroma ? 1 : 0.8))
        let least = Self.leastQuality(start)
        if curve.quality(forBytes: target) >= Double(least), let found = try search(start, curve: &curve, from: least) {
            return result(found, of: start, original: picture)
        }
        return try reduce(start, curve: curve, original: picture)
    }

    private static func leastQuality(_ picture: Picture) -> Int {
        max(picture.width, picture.height) > PNGLadder.shownLongSide ? leastQuality : leastShownQuality
    }

    private var target: Double { Double(bytesMax) * Self.aimShare }

    /// A picture for which there is no time is made smaller at once.
    private func affordable(_ picture: Picture) throws -> Picture {
        guard !pace.allows(picture) else { return picture }
        let share = Double(pace.pixelsAllowed) / Double(picture.width * picture.height)
        return try picture.scaled(by: min(1, max(0.05, share.squareRoot())))
    }

    private typealias Try = (quality: Int, bytes: [UInt8])

    /// The best quality that fits, by ever nearer predictions; nil when not even the least does.
    private func search(_ picture: Picture, curve: inout JPEGCurve, from least: Int) throws -> Try? {
        // Bounded throughout: qualities from 1 to 100.
        var (low, high) = (least - 1, Self.mostQuality + 1)
        var best: Try?
        for _ in 0..<Self.triesMax where high - low > 1 {
            if best != nil || low < least, !pace.allows(picture), best != nil { break }
            let guess = Int(clamping: curve.quality(forBytes: target))
            let quality = min(max(guess, low + 1), high - 1)
            let bytes = try encode(picture, .coarse(quality))
            curve.learn(quality: quality, bytes: Double(bytes.count))
            if bytes.count > bytesMax {
                high = quality
            } else {
                (low, best) = (quality, (quality, bytes))
                if Double(bytes.count) >= Double(bytesMax) * Self.nearShare { break }
            }
        }
        return best
    }

    /// A picture larger than a phone shows gives up what is beyond that before quality goes down.
    private func reduce(_ picture: Picture, curve: JPEGCurve, original: Picture) throws -> LadderResult {
        let shown = Double(PNGLadder.shownLongSide) / Double(max(picture.width, picture.height))
        if shown < 1,
            let found = try sized(
                picture, curve: curve, quality: Self.shownQuality, leastScale: shown, original: original)
        {
            return found
        }
        let further = try sized(
            picture, curve: curve, quality: Self.reducedQuality, leastScale: 0, original: original)
        guard let further else { throw tooSmall(bytesMax) }
        return further
    }

    /// The size that fits at a decent quality, then the best quality at that size; nil when not even the least size
    /// fits.
    private func sized(
        _ picture: Picture, curve start: JPEGCurve, quality: Int, leastScale: Double, original: Picture
    ) throws -> LadderResult? {
        var sizes = SizePrediction(whole: start.bytes(atQuality: Double(quality)))
        for count in 1...Self.sizesMax {
            let next = max(sizes.scale(forBytes: target), leastScale)
            // Bounded: floating point.
            let pixels = Int(clamping: Double(picture.width) * Double(picture.height) * next * next)
            // Without time for another try, this one has to fit.
            let isLast = !pace.allows(pixels: pixels, effort: 3)
            let scale = min(isLast ? next * 0.85 : next, 0.98)
            let reduced = try picture.scaled(by: scale)
            let first = try encode(reduced, .coarse(quality))
            sizes.learn(scale: scale, bytes: Double(first.count))
            let share = Double(first.count) / Double(bytesMax)
            if share <= 1, share >= Self.nearShare || isLast {
                return result((quality, first), of: reduced, original: original)
            }
            guard Self.qualityReach.contains(share) || scale <= leastScale || count == Self.sizesMax else { continue }
            var curve = JPEGCurve()
            curve.learn(quality: quality, bytes: Double(first.count))
            if let found = try search(reduced, curve: &curve, from: Self.leastQuality(reduced)) {
                return result(found, of: reduced, original: original)
            }
            if scale <= leastScale { return nil }
        }
        return nil
    }

    /// How far from the limit a picture may be for another quality to bring it there.
    private static let qualityReach = 0.75...1.1

    private func encode(_ picture: Picture, _ encoding: JPEGEncoding) throws -> [UInt8] {
        try pace.measure(picture) { try picture.jpegFile(encoding) }
    }

    private func result(_ found: Try, of picture: Picture, original: Picture) -> LadderResult {
        let note = "JPEG quality was lowered to \(found.quality) to fit \(bytesText(bytesMax))"
        return LadderResult(
            still: EncodedStill(.jpeg, found.bytes, of: picture),
            // Bounded: lists.
            concessions: sizeNote(picture, original) + (found.quality < full.quality ? [note] : []))
    }

    private func sizeNote(_ picture: Picture, _ original: Picture) -> [String] {
        picture.width == original.width && picture.height == original.height
            ? [] : [reducedNote(picture, bytesMax)]
    }
}

extension JPEGEncoding {
    /// With halved chroma, in several scans: what a limit asks for.
    fileprivate static func coarse(_ quality: Int) -> JPEGEncoding {
        JPEGEncoding(quality: quality, halvesChroma: true, isProgressive: true)
    }
}

/// What is said of a picture whose size gave way.
func reducedNote(_ picture: Picture, _ bytesMax: Int) -> String {
    "the picture was reduced to \(picture.width) x \(picture.height) to fit \(bytesText(bytesMax))"
}

/// What is thrown when nothing of a picture fits.
func tooSmall(_ bytesMax: Int) -> AttachPrepError {
    AttachPrepError(
        .limitExceeded, "The picture cannot be brought under \(bytesText(bytesMax)); raise its limit (maxBytes).")
}
