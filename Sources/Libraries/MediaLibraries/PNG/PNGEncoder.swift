internal import SafeArithmetic

/// Encodes an image of 8 bits a sample as PNG, faster and slightly smaller than libvips, which uses zlib.
///
/// The filtered image is held in memory, so it is for images of limited size.
///
/// Source: PNG (Third Edition): https://www.w3.org/TR/png-3/
package struct PNGEncoder: Sendable, Hashable {
    /// 16 MB of pixels; filtered and compressed they need twice as much.
    package static let pixelsMax = 4_000_000
    /// Rows of the strip in the middle that decides whether row filters suit an image.
    package static let sampleRows = 64

    private let width: Int
    private let height: Int
    private let bands: Int

    /// - Parameters:
    ///   - width: In pixels.
    ///   - bands: Samples of a pixel: gray, gray with alpha, RGB or RGBA.
    /// - Returns: Nil for sizes out of range.
    package init?(width: Int, height: Int, bands: Int) {
        guard width > 0, height > 0, 1...4 ~= bands, width.multiplied(clamping: height) <= Self.pixelsMax else {
            return nil
        }
        (self.width, self.height, self.bands) = (width, height, bands)
    }

    /// A file of IHDR, one IDAT and IEND, with row filters where `gainsFromFilters` says so.
    ///
    /// - Parameters:
    ///   - pixels: Rows without padding.
    ///   - level: Of libdeflate, 0 to 12; 6 compresses slightly better than zlib's 6, in half to a third of its time.
    /// - Throws: `PNGEncodingError` when there are not as many pixels as the size says; libdeflate's error.
    package func encode(_ pixels: RawSpan, level: Int) throws -> [UInt8] {
        let rowBytes = width * bands
        guard pixels.byteCount == rowBytes * height else { throw PNGEncodingError() }
        let rows = min(height, Self.sampleRows)
        let top = (height - rows) / 2
        let compressor = try Compressor(level: level)
        let samples = try Samples(
            pixels.extracting(top * rowBytes..<(top + rows) * rowBytes), width: width, bands: bands, compressor)
        if rows == height { return file(samples.gainFromFilters ? samples.filtered : samples.plain) }
        let bytes =
            samples.gainFromFilters
            ? PNGRowFilter.filtered(pixels, width: width, bands: bands)
            : PNGRowFilter.unfiltered(pixels, rowBytes: rowBytes)
        return file(try compressor.zlib(bytes))
    }

    /// Whether row filters make an image smaller: photographs need them, drawings are smaller without.
    ///
    /// - Parameter strip: `sampleRows` rows from the middle of the image, or all rows of a smaller one.
    package static func gainsFromFilters(_ strip: RawSpan, width: Int, bands: Int, level: Int) throws -> Bool {
        try Samples(strip, width: width, bands: bands, Compressor(level: level)).gainFromFilters
    }

    /// A strip compressed with and without row filters, at the final level: at a lower one smooth gradients wrongly
    /// seem to benefit from filters.
    private struct Samples {
        let plain: [UInt8]
        let filtered: [UInt8]

        var gainFromFilters: Bool { filtered.count < plain.count }

        init(_ strip: RawSpan, width: Int, bands: Int, _ compressor: Compressor) throws {
            plain = try compressor.zlib(PNGRowFilter.unfiltered(strip, rowBytes: width * bands))
            filtered = try compressor.zlib(PNGRowFilter.filtered(strip, width: width, bands: bands))
        }
    }

    private func file(_ compressed: [UInt8]) -> [UInt8] {
        let header = PNGChunk.bigEndian(width) + PNGChunk.bigEndian(height) + [8, colorType, 0, 0, 0]
        let first = PNGChunk.signature + PNGChunk.bytes("IHDR", content: header)
        return first + PNGChunk.bytes("IDAT", content: compressed) + PNGChunk.bytes("IEND", content: [])
    }

    private var colorType: UInt8 {
        switch bands {
        case 1: 0
        case 2: 4
        case 3: 2
        default: 6
        }
    }
}

/// Pixels that do not have the size that was given for them.
package struct PNGEncodingError: Error, Sendable, Hashable {}
