import CVips

extension Picture {
    /// Rows that are asked for at once: what loaders give at once.
    private static let stripRows = 16

    /// One page in sRGB, with all of the others read to their end and forgotten: as many bytes as a page has are held.
    ///
    /// The picture is one of all pages, opened for one pass. C: `vips_region_prepare`.
    ///
    /// - Throws: `VipsError` where a page before it or after it cannot be decoded.
    package func keptPage(_ number: Int) throws -> Picture {
        precondition((0..<loadedPages).contains(number), "the page is there")
        let colours = try inSRGB()
        guard let region = unsafe vips_region_new(colours.handle) else { throw VipsError("region") }
        defer { unsafe CVips_unref_region(region) }
        let stride = width * colours.bands
        var kept = [UInt8](repeating: 0, count: stride * height)
        for top in Swift.stride(from: 0, to: height * loadedPages, by: Self.stripRows) {
            let rows = min(Self.stripRows, height * loadedPages - top)
            var area = VipsRect(left: 0, top: CInt(top), width: CInt(width), height: CInt(rows))
            try check(unsafe vips_region_prepare(region, &area), "region_prepare")
            for row in top..<(top + rows) where row / height == number {
                guard let source = unsafe CVips_region_row(region, 0, CInt(row)) else { throw VipsError("region") }
                unsafe kept.withUnsafeMutableBytes { target in
                    unsafe target[(row % height * stride)...].copyBytes(
                        from: UnsafeRawBufferPointer(start: source, count: stride))
                }
            }
        }
        return try Picture.wrap(pixels: kept, width: width, height: height, bands: colours.bands, orientation: 1)
    }
}
