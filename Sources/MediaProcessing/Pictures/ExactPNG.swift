import RichPush
import Vips

/// The smallest PNG that keeps every pixel: grey where all is grey, a palette where 256 colours are enough.
struct ExactPNG {
    /// The picture as it is best stored directly: without an alpha that says nothing, grey when it is.
    let picture: Picture
    private let census: ColourCensus

    init(_ opaque: Picture) throws {
        census = try ColourCensus(opaque)
        picture = census.isGrey && opaque.bands >= 3 ? try opaque.asGrey() : opaque
        original = opaque
    }

    private let original: Picture

    /// - Parameter compression: zlib's level, 0 to 9.
    func encode(compression: Int) throws -> [UInt8] {
        if let exact = try palette(compression: compression) { return exact }
        return try picture.pngFile(compression: compression)
    }

    /// Few greys need few bits; more of them are better off with filters.
    private static let greysMax = 16

    private func palette(compression: Int) throws -> [UInt8]? {
        guard let colours = census.colours, !census.isGrey || colours <= Self.greysMax else { return nil }
        let bits = colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8
        let bytes = try original.png(.palette(bits: bits, dithers: false, compression: compression))
        // The quantiser promises nothing, so what it did is looked at.
        let shown = try Picture.open(encoded: bytes).inSRGB()
        guard shown.bands == original.bands, try shown.meanSquaredDifference(from: original) == 0 else { return nil }
        return bytes
    }
}
