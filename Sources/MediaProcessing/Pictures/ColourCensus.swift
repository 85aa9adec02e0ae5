import Vips

/// The colours of a picture, counted as far as a palette goes.
struct ColourCensus {
    /// A PNG's palette holds no more.
    static let paletteMax = 256

    /// How many there are, alpha included; nil for more than a palette holds.
    let colours: Int?
    /// Whether red, green and blue are equal everywhere.
    let isGrey: Bool

    /// Reads the pixels until both questions are answered.
    init(_ picture: Picture) throws {
        let bands = picture.bands
        guard bands >= 3 else {
            (colours, isGrey) = (nil, true)
            return
        }
        let found = try picture.withPixels { Self.count($0, bands: bands) }
        (colours, isGrey) = (found.colours, found.isGrey)
    }

    private static func count(_ pixels: RawSpan, bands: Int) -> (colours: Int?, isGrey: Bool) {
        var seen: Set<UInt32> = []
        var last: UInt32?
        var isGrey = true
        for offset in stride(from: 0, to: pixels.byteCount, by: bands) {
            let (red, green, blue) = (pixels.byte(offset), pixels.byte(offset + 1), pixels.byte(offset + 2))
            if red != green || green != blue { isGrey = false }
            let alpha = bands == 4 ? pixels.byte(offset + 3) : 255
            let colour = UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha)
            if colour == last { continue }
            last = colour
            if seen.count <= paletteMax { seen.insert(colour) }
            if seen.count > paletteMax, !isGrey { return (nil, false) }
        }
        return (seen.count > paletteMax ? nil : seen.count, isGrey)
    }
}

extension RawSpan {
    /// One byte.
    func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
