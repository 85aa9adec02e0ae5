import CVips

/// The pages of a picture, read one after another: one page of pixels is in memory at a time. Owns a VipsRegion.
@safe package final class PageReader {
    /// Red, green, blue and alpha.
    private static let bands = 4

    private let picture: Picture
    private let region: UnsafeMutablePointer<VipsRegion>
    private var page = 0
    /// Pixels of a page.
    package let width: Int
    package let height: Int
    package let pages: Int

    /// - Parameter picture: All pages, one below the other, opened for one pass.
    package init(_ picture: Picture) throws {
        let colours = try picture.inSRGB().withAlpha()
        guard colours.bands == Self.bands else { throw VipsError("bands") }
        guard let region = unsafe vips_region_new(colours.handle) else { throw VipsError("region") }
        unsafe self.region = region
        self.picture = colours
        (width, height, pages) = (picture.width, picture.height, picture.loadedPages)
    }

    deinit {
        unsafe CVips_unref_region(region)
    }

    /// The next page as RGBA, rows without padding; nil after the last.
    package func next() throws -> [UInt8]? {
        guard page < pages else { return nil }
        // Bounded throughout: libvips counts the rows of all pages in `CInt`.
        var area = VipsRect(left: 0, top: CInt(page * height), width: CInt(width), height: CInt(height))
        try check(unsafe vips_region_prepare(region, &area), "region_prepare")
        defer { page += 1 }
        let stride = width * Self.bands
        let pixels = unsafe [UInt8](unsafeUninitializedCapacity: stride * height) { buffer, count in
            for row in 0..<height {
                guard let source = unsafe CVips_region_row(region, 0, area.top + CInt(row)),
                    let target = buffer.baseAddress
                else { return }
                unsafe UnsafeMutableRawPointer(target + row * stride).copyMemory(from: source, byteCount: stride)
            }
            count = stride * height
        }
        guard pixels.count == stride * height else { throw VipsError("region") }
        return pixels
    }
}
