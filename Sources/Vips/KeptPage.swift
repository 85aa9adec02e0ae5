import CVips

extension Picture {
    /// Rows that are asked for at once: what loaders give at once.
    private static let stripRows = 16

    /// One page in sRGB, with all of the others read to their end and forgotten: as many bytes as a page has are held.
    ///
    /// The picture is one of all pages, opened for one pass. C: `vips_region_prepare`.
    ///
    /// - Throws: `VipsError` where it is not there, or a page before it or after it cannot be decoded.
    package func keptPage(_ number: Int) throws -> Picture {
        guard (0..<loadedPages).contains(number) else { throw VipsError("page") }
        // Bounded throughout: libvips counts in `CInt`, rows of all pages too, and a page that is there has a row.
        let colours = try inSRGB()
        guard let region = unsafe vips_region_new(colours.handle) else { throw VipsError("region") }
        defer { unsafe CVips_unref_region(region) }
        // Written where it stays: a copy of a large page would double what is held beside the loader's own.
        guard let image = unsafe vips_image_new_memory() else { throw VipsError("new_memory") }
        let kept = unsafe Picture(adopting: image)
        unsafe vips_image_init_fields(
            image, CInt(clamping: width), CInt(clamping: height), CInt(clamping: colours.bands), VIPS_FORMAT_UCHAR,
            VIPS_CODING_NONE, VIPS_INTERPRETATION_sRGB, 1, 1)
        for top in Swift.stride(from: 0, to: height * loadedPages, by: Self.stripRows) {
            let rows = min(Self.stripRows, height * loadedPages - top)
            var area = VipsRect(left: 0, top: CInt(top), width: CInt(width), height: CInt(rows))
            try check(unsafe vips_region_prepare(region, &area), "region_prepare")
            for row in top..<(top + rows) where row / height == number {
                guard let source = unsafe CVips_region_row(region, 0, CInt(row)) else { throw VipsError("region") }
                let line = unsafe UnsafeMutablePointer(mutating: source.assumingMemoryBound(to: UInt8.self))
                try check(unsafe vips_image_write_line(image, CInt(row % height), line), "write_line")
            }
        }
        return kept
    }
}
