import Foundation
import RichPush
import Vips

/// A PNG brought under its limit, step by step, losslessness last.
///
/// It is packed harder first; then its colours become a palette where that is hardly seen, or it is made smaller, but
/// not below what a phone shows; only then an opaque one becomes a JPEG, and a transparent one small enough.
struct PNGLadder {
    /// The long side of what a phone shows full width: below it, size is seen.
    static let shownLongSide = 1_280
    /// zlib's best.
    private static let bestCompression = 9
    /// What the best takes of the time of the usual.
    private static let bestEffort = 5.0
    /// The best saves no more than a tenth.
    private static let bestGain = 1.1
    /// A palette's mean squared error, in steps of 8 bits, that is hardly seen: 38 dB.
    private static let hardlySeenError = 10.0
    /// What packing takes of the time of decoding: zlib works ten times longer one way than the other.
    private static let packingEffort = 10.0
    /// What a palette takes of the time of decoding, or of packing before it was tried.
    private static let paletteEffort = 7.0

    let bytesMax: Int
    let isTransparent: Bool
    let pace: EncodingPace

    /// - Parameter wasOver: Whether the source itself was over the limit, so that packing harder has to be said.
    func encode(_ picture: Picture, wasOver: Bool) throws -> LadderResult {
        let exact = try pace.allows(picture, effort: Self.packingEffort) ? exactFile(picture) : nil
        if let exact, exact.count <= bytesMax {
            return LadderResult(
                still: EncodedStill(.png, exact, of: picture),
                concessions: wasOver ? ["the PNG was packed tighter, without loss, to fit \(bytesText(bytesMax))"] : [])
        }
        if let found = try palette(picture) ?? smallerExact(picture, known: exact?.count) { return found }
        return isTransparent ? try smallPalette(picture) : try jpeg(picture)
    }

    // MARK: Without loss

    /// Packed as usual, and as hard as can be where that may be enough.
    private func exactFile(_ picture: Picture) throws -> [UInt8] {
        let exact = try ExactPNG(picture)
        let usual = try pace.measure(picture) { try exact.encode(compression: StillEncoding.compression) }
        let mayFit = usual.count > bytesMax && Double(usual.count) <= Double(bytesMax) * Self.bestGain
        guard mayFit, pace.allows(picture, effort: Self.bestEffort) else { return usual }
        return try exact.encode(compression: Self.bestCompression)
    }

    private func smallerExact(_ picture: Picture, known: Int?) throws -> LadderResult? {
        guard let known else { return nil }
        let search = SizeSearch(bytesMax: bytesMax, longSideMin: Self.shownLongSide, pace: pace)
        let found = try search.largest(picture, known: known) {
            try ExactPNG($0).encode(compression: StillEncoding.compression)
        }
        return found.map {
            LadderResult(
                still: EncodedStill(.png, $0.bytes, of: $0.picture), concessions: [reducedNote($0.picture, bytesMax)])
        }
    }

    // MARK: With a palette

    private func palette(_ picture: Picture) throws -> LadderResult? {
        let shown = try picture.limited(toLongSide: Self.shownLongSide)
        // Judged small, which tells as well what the whole is going to take.
        guard pace.allows(shown, effort: Self.paletteEffort), try paletteIsHardlySeen(shown), pace.allows(picture)
        else { return nil }
        let bytes = try pace.measure(picture) { try Self.paletteFile(picture) }
        if bytes.count <= bytesMax {
            return paletteResult(SizeSearch.Found(picture: picture, bytes: bytes), of: picture)
        }
        let search = SizeSearch(bytesMax: bytesMax, longSideMin: Self.shownLongSide, pace: pace)
        return try search.largest(picture, known: bytes.count, encode: Self.paletteFile).map {
            paletteResult($0, of: picture)
        }
    }

    private func smallPalette(_ picture: Picture) throws -> LadderResult {
        let start = try pace.allows(picture, effort: Self.paletteEffort) ? picture : affordable(picture)
        let bytes = try pace.measure(start) { try Self.paletteFile(start) }
        if bytes.count <= bytesMax { return paletteResult(SizeSearch.Found(picture: start, bytes: bytes), of: picture) }
        let search = SizeSearch(bytesMax: bytesMax, longSideMin: 1, pace: pace)
        guard let found = try search.largest(start, known: bytes.count, encode: Self.paletteFile) else {
            throw tooSmall(bytesMax)
        }
        return paletteResult(found, of: picture)
    }

    private func paletteResult(_ found: SizeSearch.Found, of original: Picture) -> LadderResult {
        let isReduced = found.picture.width < original.width || found.picture.height < original.height
        return LadderResult(
            still: EncodedStill(.png, found.bytes, of: found.picture),
            // Bounded: lists.
            concessions: [paletteNote] + (isReduced ? [reducedNote(found.picture, bytesMax)] : []))
    }

    private func affordable(_ picture: Picture) throws -> Picture {
        let share = Double(pace.pixelsAllowed) / Self.paletteEffort / Double(picture.width * picture.height)
        return try picture.scaled(by: min(1, max(0.05, share.squareRoot())))
    }

    private var paletteNote: String {
        "the PNG's colours were reduced to a palette of 256 to fit \(bytesText(bytesMax))"
    }

    private static func paletteFile(_ picture: Picture) throws -> [UInt8] {
        try picture.png(.palette(bits: 8, dithers: true, compression: bestCompression))
    }

    /// Judged at the size a phone shows, laid on grey where it is transparent.
    private func paletteIsHardlySeen(_ picture: Picture) throws -> Bool {
        let file = try pace.measure(picture) { try Self.paletteFile(picture) }
        let quantised = try Picture.open(encoded: file).inSRGB().flattened(onGrey: 128)
        let original = try picture.flattened(onGrey: 128)
        guard quantised.bands == original.bands else { return false }
        return try quantised.meanSquaredDifference(from: original) <= Self.hardlySeenError
    }

    // MARK: With loss

    private func jpeg(_ picture: Picture) throws -> LadderResult {
        let full = JPEGEncoding(quality: StillEncoding.fullQuality, halvesChroma: false)
        var result = try JPEGLadder(bytesMax: bytesMax, full: full, pace: pace).encode(picture)
        result.concessions.insert("the PNG became a JPEG to fit \(bytesText(bytesMax))", at: 0)
        return result
    }
}
