import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// The colors of a still by the numbers in its container, for the formats whose numbers libvips ignores: PNG, HEIC and
/// AVIF. A profile counts more, except for a PNG's `cICP`.
struct DeclaredColors: Hashable {
    let description: ColorDescription
    /// Whether an ICC profile is ignored.
    let replacesProfile: Bool

    /// Nil where pixels are in sRGB, or only a profile describes them.
    static func read(_ format: MediaFormat, in window: ByteWindow) throws -> DeclaredColors? {
        try format.imageFormat?.colors(in: window)
    }

    static func png(_ window: ByteWindow) throws -> DeclaredColors? {
        let chunks = try PNGColorChunks.read(window)
        guard let description = chunks.description, !description.isSRGB || chunks.replacesProfile else { return nil }
        return DeclaredColors(description: description, replacesProfile: chunks.replacesProfile)
    }

    static func heif(_ window: ByteWindow) -> DeclaredColors? {
        guard let items = try? HEIFItems(window), let codePoints = try? items.colors.codePoints else { return nil }
        let description = codePoints.description
        return description.isSRGB ? nil : DeclaredColors(description: description, replacesProfile: false)
    }

    /// An image as decoded, converted to sRGB.
    func inSRGB(_ image: Image) throws -> Image {
        if !replacesProfile, image.has("icc-profile-data") { return try image.inSRGB() }
        // libvips has converted CMYK, and other spaces have no code points.
        guard let transfer = description.curve.hdr else {
            let isGray = image.bands < 3
            return try image.labeled(colorProfile: description.profile(isGray: isGray)).inSRGB()
        }
        return try toneMapped(image, map: ToneMap(transfer, description.primaries))
    }

    private func toneMapped(_ image: Image, map: ToneMap) throws -> Image {
        // Twelve bytes a pixel are in memory.
        let most = Double(Limits.hdrTilePixelsMax)
        let share = (most / (Double(image.width) * Double(image.height))).squareRoot()
        let held =
            share < 1
            ? try image.reduced(
                width: max(1, Int(clamping: Double(image.width) * share)),
                height: max(1, Int(clamping: Double(image.height) * share))) : image
        let pixels = try held.pixels()
        let bytes = held.sampleBytes
        let hasAlpha = held.hasAlpha
        let colors = hasAlpha ? held.bands - 1 : held.bands
        guard bytes <= 2, colors == 1 || colors == 3 else { return try image.inSRGB() }
        let count = held.width * held.height
        var wide = [UInt8]()
        wide.reserveCapacity(count * 6)
        var alpha = [UInt8]()
        for pixel in 0..<count {
            let start = pixel * held.bands * bytes
            for color in 0..<3 {
                let sample = start + (colors == 1 ? 0 : color) * bytes
                // 8 bits are spread to 16.
                wide.append(pixels[sample])
                wide.append(pixels[sample + bytes - 1])
            }
            if hasAlpha { alpha.append(pixels[start + colors * bytes + bytes - 1]) }
        }
        let mapped = map.sRGB(ofRGB16: wide)
        return try Image.wrap(
            pixels: hasAlpha ? Self.interleaved(mapped, alpha: alpha) : mapped, width: held.width, height: held.height,
            bands: hasAlpha ? 4 : 3, orientation: held.orientation)
    }

    /// Red, green and blue with an alpha for each pixel.
    static func interleaved(_ colors: [UInt8], alpha: [UInt8]) -> [UInt8] {
        precondition(colors.count == alpha.count * 3, "each pixel has an alpha")
        return unsafe [UInt8](unsafeUninitializedCapacity: alpha.count * 4) { output, filled in
            for pixel in 0..<alpha.count {
                for band in 0..<3 { unsafe output[pixel * 4 + band] = colors[pixel * 3 + band] }
                unsafe output[pixel * 4 + 3] = alpha[pixel]
            }
            filled = alpha.count * 4
        }
    }
}

/// The chunks of a PNG that describe its colors: the first of `cICP`, `iCCP`, `sRGB`, and `gAMA` with `cHRM` counts.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", 4.3 and 11.3.2.
struct PNGColorChunks: Hashable {
    private var codePoints: ColorDescription?
    private var hasProfile = false
    private var isSRGB = false
    private var gamma: Double?
    private var primaries: ColorPrimaries?

    /// How far a gamma may be from 1 / 2.2 to count as sRGB's curve, whose shape differs more.
    private static let gammaTolerance = 0.02
    /// How far a chromaticity may be from that of sRGB: writers round.
    private static let chromaticityTolerance = 0.002

    /// Reads the chunks before the image data.
    static func read(_ window: ByteWindow) throws -> PNGColorChunks {
        var chunks = PNGColorChunks()
        var offset = 8
        for _ in 0..<Limits.pngChunksMax {
            let length = try window.bigEndian(at: offset, bytes: 4)
            let type = try window.characters(at: offset + 4, count: 4)
            if type == "IDAT" || type == "IEND" || length > window.size - offset - 12 { break }
            try chunks.read(type, at: offset + 8, length: length, of: window)
            offset += 12 + length
        }
        return chunks
    }

    private mutating func read(_ type: String, at offset: Int, length: Int, of window: ByteWindow) throws {
        switch type {
        case "cICP" where length >= 4:
            let values = try window.whole(at: offset, count: 4).map { Int($0) }
            // RGB in full range; nothing else is written.
            if values[2] == 0, values[3] == 1 {
                codePoints = ColorDescription(primaries: values[0], transfer: values[1])
            }
        case "iCCP": hasProfile = true
        case "sRGB": isSRGB = true
        case "gAMA" where length >= 4:
            let value = try window.bigEndian(at: offset, bytes: 4)
            if value > 0 { gamma = Double(value) / 100_000 }
        case "cHRM" where length >= 32:
            let values = try (0..<8).map { Double(try window.bigEndian(at: offset + $0 * 4, bytes: 4)) / 100_000 }
            func point(_ index: Int) -> ColorPrimaries.Chromaticity { .init(values[index], values[index + 1]) }
            let found = ColorPrimaries(red: point(2), green: point(4), blue: point(6), white: point(0))
            if found.isValid { primaries = Self.isNearSRGB(found) ? .bt709 : found }
        default: break
        }
    }

    private static func isNearSRGB(_ found: ColorPrimaries) -> Bool {
        let sRGB = ColorPrimaries.bt709
        let pairs = [
            (found.red, sRGB.red), (found.green, sRGB.green), (found.blue, sRGB.blue), (found.white, sRGB.white),
        ]
        return pairs.allSatisfy {
            abs($0.0.x - $0.1.x) <= chromaticityTolerance && abs($0.0.y - $0.1.y) <= chromaticityTolerance
        }
    }

    var replacesProfile: Bool { codePoints != nil && hasProfile }

    /// Nil where a profile or sRGB counts, or nothing is declared.
    var description: ColorDescription? {
        if let codePoints { return codePoints }
        if hasProfile || isSRGB || gamma == nil && primaries == nil { return nil }
        let isUsual = gamma.map { abs($0 * 2.2 - 1) <= Self.gammaTolerance } ?? true
        let curve = isUsual ? TransferCurve.sRGB : .power(1 / (gamma ?? 1))
        return ColorDescription(primaries: primaries ?? .bt709, curve: curve)
    }
}
