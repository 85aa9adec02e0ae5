import CVips

/// Options for encoding an image as JPEG.
package struct JPEGEncoding: Sendable, Hashable {
    /// 1 to 100.
    package var quality: Int
    /// Whether chroma is stored at half width and half height.
    package var halvesChroma: Bool
    /// Whether Huffman tables are optimized for the image; this keeps all its coefficients in memory, 3 to 6 bytes a
    /// pixel.
    package var optimizes: Bool
    /// Whether the file is progressive, which makes it a few percent smaller.
    package var isProgressive: Bool

    package init(quality: Int, halvesChroma: Bool, optimizes: Bool = true, isProgressive: Bool = false) {
        self.quality = quality
        self.halvesChroma = halvesChroma
        self.optimizes = optimizes
        self.isProgressive = isProgressive
    }
}

/// Options for encoding an image as PNG.
package enum PNGEncoding: Sendable, Hashable {
    /// With the image's own pixel format; zlib's level from 0 to 9, rows unfiltered or each with the filter that suits
    /// it.
    case direct(compression: Int, filters: Bool)
    /// With a palette of up to 2 to the power of `bits` colors (1, 2, 4 or 8 bits); an image with no more colors keeps
    /// them.
    case palette(bits: Int, dithers: Bool, compression: Int)
}

extension Image {
    /// Encodes as JPEG without metadata.
    package func jpeg(_ encoding: JPEGEncoding) throws -> [UInt8] {
        let chroma = encoding.halvesChroma ? VIPS_FOREIGN_SUBSAMPLE_ON : VIPS_FOREIGN_SUBSAMPLE_OFF
        return try saved("jpegsave") { buffer, length in
            unsafe CVips_jpegsave_buffer(
                pointer, buffer, length, CInt(clamping: encoding.quality), chroma, encoding.optimizes ? 1 : 0,
                encoding.isProgressive ? 1 : 0)
        }
    }

    /// Encodes as PNG without metadata.
    package func png(_ encoding: PNGEncoding) throws -> [UInt8] {
        try saved("pngsave") { buffer, length in
            switch encoding {
            case .direct(let compression, let filters):
                let filter = filters ? VIPS_FOREIGN_PNG_FILTER_ALL : VIPS_FOREIGN_PNG_FILTER_NONE
                return unsafe CVips_pngsave_buffer(
                    pointer, buffer, length, CInt(clamping: compression), CInt(clamping: filter.rawValue))
            case .palette(let bits, let dithers, let compression):
                return unsafe CVips_pngsave_palette_buffer(
                    pointer, buffer, length, CInt(clamping: compression), CInt(clamping: bits), dithers ? 1 : 0,
                    Self.paletteEffort)
            }
        }
    }

    /// libimagequant's default, on a scale of 1 to 10.
    private static let paletteEffort: CInt = 7
}
