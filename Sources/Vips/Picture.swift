import CVips

/// A picture of libvips: an immutable description of pixels that are made when they are asked for. Owns a VipsImage.
///
/// Not Sendable: a picture that streams from a file is read once, from top to bottom, by the thread that opened it.
@safe package final class Picture {
    let pointer: UnsafeMutablePointer<VipsImage>

    /// Takes over the reference that an operation returned.
    init(adopting pointer: UnsafeMutablePointer<VipsImage>) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe CVips_unref_image(pointer)
    }

    // MARK: Opening

    /// Which pages of a file to load.
    package enum Pages: Sendable, Hashable {
        /// The one a viewer of stills shows.
        case primary
        /// All, one below the other.
        case all

        /// As a loader's options. A truncated or broken file is an error, never a picture with a grey end.
        fileprivate var options: String {
            switch self {
            case .primary: "[fail-on=error]"
            case .all: "[n=-1,fail-on=error]"
            }
        }
    }

    /// Opens a file for one pass from top to bottom; the header is read, no pixel yet.
    package static func open(descriptor: CInt, pages: Pages = .primary) throws -> Picture {
        let source = try PictureSource(descriptor: descriptor)
        return try make("load") { out in unsafe CVips_image_new_from_source(source.pointer, pages.options, out) }
    }

    /// Opens a file and reduces it to fit a box, decoding at a lower size where the format can; upright.
    package static func openReduced(descriptor: CInt, width: Int, height: Int) throws -> Picture {
        let source = try PictureSource(descriptor: descriptor)
        return try make("thumbnail") { out in
            unsafe CVips_thumbnail_source(
                source.pointer, out, CInt(clamping: width), CInt(clamping: height), Pages.primary.options)
        }
    }

    /// Opens a JPEG and reduces it to exactly that size, neither turned nor its colours converted.
    ///
    /// - Parameter shrink: How far the decoder reduces it: 1, 2, 4 or 8.
    package static func openReducedAsStored(descriptor: CInt, shrink: Int, width: Int, height: Int) throws -> Picture {
        let source = try PictureSource(descriptor: descriptor)
        let options = "[shrink=\(shrink),fail-on=error]"
        let shrunk = try make("load") { out in unsafe CVips_image_new_from_source(source.pointer, options, out) }
        return try shrunk.derive("resize") { out in
            // Bounded throughout: floating point; a picture has pixels.
            unsafe CVips_resize(
                shrunk.pointer, out, Double(width) / Double(shrunk.width), Double(height) / Double(shrunk.height))
        }
    }

    /// The same of an encoded picture in memory, such as a cover; a truncated one is shown as far as it goes.
    package static func openReduced(encoded bytes: [UInt8], width: Int, height: Int) throws -> Picture {
        try make("thumbnail") { out in
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe CVips_thumbnail_bytes(
                    buffer.baseAddress, buffer.count, "", out, CInt(clamping: width), CInt(clamping: height))
            }
        }
    }

    /// Opens an encoded picture in memory, such as a cover.
    ///
    /// - Parameter isWhole: Whether a truncated one is an error.
    package static func open(encoded bytes: [UInt8], isWhole: Bool = false) throws -> Picture {
        try make("load") { out in
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe CVips_image_new_from_bytes(
                    buffer.baseAddress, buffer.count, isWhole ? Pages.primary.options : "", out)
            }
        }
    }

    /// Wraps pixels of 8 bits a band, rows without padding; `orientation` is EXIF's number.
    ///
    /// - Parameter colourProfile: What the numbers mean; nil for sRGB.
    package static func wrap(
        pixels: [UInt8], width: Int, height: Int, bands: Int, orientation: Int, colourProfile: [UInt8]? = nil
    ) throws -> Picture {
        // Bounded: the pixels are in memory.
        precondition(pixels.count == width * height * bands, "pixels fill the picture")
        let image = unsafe pixels.withUnsafeBytes { buffer in
            unsafe vips_image_new_from_memory_copy(
                buffer.baseAddress, buffer.count, CInt(clamping: width), CInt(clamping: height), CInt(clamping: bands),
                VIPS_FORMAT_UCHAR)
        }
        guard let image = unsafe image else { throw VipsError("new_from_memory") }
        unsafe image.pointee.Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        unsafe vips_image_set_int(image, "orientation", CInt(clamping: orientation))
        if let colourProfile {
            unsafe colourProfile.withUnsafeBytes { profile in
                unsafe vips_image_set_blob_copy(image, "icc-profile-data", profile.baseAddress, profile.count)
            }
        }
        return unsafe Picture(adopting: image)
    }

    // MARK: Facts

    /// Pixels as stored.
    package var width: Int { Int(clamping: unsafe vips_image_get_width(pointer)) }
    /// Pixels as stored; of one page.
    package var height: Int { Int(clamping: unsafe vips_image_get_page_height(pointer)) }
    /// Pages that were loaded, one below the other.
    // Bounded: the divisor is at least 1.
    package var loadedPages: Int { Int(clamping: unsafe vips_image_get_height(pointer)) / max(1, height) }
    /// Pages of the file.
    package var pages: Int { Int(clamping: unsafe vips_image_get_n_pages(pointer)) }
    /// Colour bands and alpha.
    package var bands: Int { Int(clamping: unsafe vips_image_get_bands(pointer)) }
    /// Whether the last band is alpha.
    package var hasAlpha: Bool { unsafe vips_image_hasalpha(pointer) != 0 }
    /// EXIF's number, 1 when there is none.
    package var orientation: Int { Int(clamping: unsafe vips_image_get_orientation(pointer)) }
    /// The interpretation's name, as in `srgb`, `cmyk`, `b-w`, `rgb16`.
    package var colour: String {
        let name = unsafe vips_enum_nick(
            vips_interpretation_get_type(), CInt(clamping: vips_image_get_interpretation(pointer).rawValue))
        return unsafe name.map { unsafe String(cString: $0) } ?? "unknown"
    }
    /// Names of all metadata.
    package var fields: [String] {
        guard let names = unsafe vips_image_get_fields(pointer) else { return [] }
        defer { unsafe g_strfreev(names) }
        var found: [String] = []
        while let name = unsafe names[found.count] { found.append(unsafe String(cString: name)) }
        return found
    }
    /// Whether metadata of that name is there, as in `icc-profile-data`.
    package func has(_ name: String) -> Bool { unsafe CVips_image_has(pointer, name) != 0 }

    private var isCMYK: Bool { unsafe vips_image_get_interpretation(pointer) == VIPS_INTERPRETATION_CMYK }

    // MARK: Operations

    /// Turned as its orientation says; a picture that has to be turned is decoded into memory first, since its pixels
    /// are then not needed from top to bottom.
    package func upright() throws -> Picture {
        guard orientation != 1 else { return self }
        return try inMemory().turned()
    }

    private func turned() throws -> Picture {
        try derive("autorot") { out in unsafe CVips_autorot(pointer, out) }
    }

    /// In sRGB, 8 bits, with alpha where there was alpha.
    package func inSRGB() throws -> Picture {
        if hasFittingProfile ?? isCMYK, let managed = try? throughProfile() { return managed }
        return try derive("colourspace") { out in unsafe CVips_colourspace_srgb(pointer, out) }.eightBit()
    }

    /// Whether the embedded profile is one of as many colours as the picture has: libvips takes what is left for alpha.
    /// Nil without a profile.
    private var hasFittingProfile: Bool? {
        var (data, length) = unsafe (UnsafeRawPointer(bitPattern: 0), 0)
        guard has("icc-profile-data"), unsafe vips_image_get_blob(pointer, "icc-profile-data", &data, &length) == 0,
            let data = unsafe data, length >= Self.profileHeaderBytes
        else { return nil }
        // Bounded: a header is there; its colour space is in ICC.1:2010, 7.2.6.
        let space = unsafe String(decoding: UnsafeRawBufferPointer(start: data + 16, count: 4), as: UTF8.self)
        let colours = ["GRAY": 1, "RGB ": 3, "Lab ": 3, "CMYK": 4][space]
        // Bounded: a picture with alpha has bands.
        return colours == (hasAlpha ? bands - 1 : bands)
    }

    /// ICC.1:2010, 7.2.
    private static let profileHeaderBytes = 128

    /// A profile that does not fit its pixels is dropped, as browsers drop it.
    private func throughProfile() throws -> Picture {
        let fallback = isCMYK ? "cmyk" : "srgb"
        return try derive("icc_transform") { out in unsafe CVips_icc_transform_to_srgb(pointer, out, fallback) }
            .eightBit()
    }

    private func eightBit() throws -> Picture {
        guard unsafe vips_image_get_format(pointer) != VIPS_FORMAT_UCHAR else { return self }
        return try derive("cast") { out in unsafe CVips_cast_uchar(pointer, out) }
    }

    /// The pixels, decoded now and kept in memory: what follows may read them in any order, and again.
    package func inMemory() throws -> Picture {
        guard let image = unsafe vips_image_copy_memory(pointer) else { throw VipsError("copy_memory") }
        return unsafe Picture(adopting: image)
    }

    /// A part; pixels, origin top-left.
    package func area(left: Int, top: Int, width: Int, height: Int) throws -> Picture {
        let part = try derive("extract_area") { out in
            unsafe CVips_extract_area(
                pointer, out, CInt(clamping: left), CInt(clamping: top), CInt(clamping: width), CInt(clamping: height))
        }
        // A part of a stack of pages is one picture: what is left of the stack's metadata would halve its height.
        _ = unsafe vips_image_remove(part.pointer, VIPS_META_PAGE_HEIGHT)
        return part
    }

    /// Reduced to fit a box; never enlarged.
    package func reduced(width: Int, height: Int) throws -> Picture {
        try derive("thumbnail_image") { out in
            unsafe CVips_thumbnail_image(pointer, out, CInt(clamping: width), CInt(clamping: height))
        }
    }

    /// Stretched to exactly that size.
    package func stretched(width: Int, height: Int) throws -> Picture {
        try derive("thumbnail_image") { out in
            unsafe CVips_thumbnail_image_force(pointer, out, CInt(clamping: width), CInt(clamping: height))
        }
    }

    /// Without its alpha band.
    package func withoutAlpha() throws -> Picture {
        guard hasAlpha else { return self }
        return try derive("extract_band") { out in
            // Bounded: a picture with alpha has bands.
            unsafe CVips_extract_bands(pointer, out, 0, CInt(bands - 1))
        }
    }

    /// With an alpha band, opaque where there was none.
    package func withAlpha() throws -> Picture {
        guard !hasAlpha else { return self }
        return try derive("addalpha") { out in unsafe CVips_addalpha(pointer, out) }
    }

    /// The pixels of a picture of 8 bits a band, rows without padding.
    package func pixels() throws -> [UInt8] {
        var length = 0
        guard let memory = unsafe vips_image_write_to_memory(pointer, &length) else {
            throw VipsError("write_to_memory")
        }
        defer { unsafe g_free(memory) }
        return unsafe Array(UnsafeRawBufferPointer(start: memory, count: length))
    }

    /// Whether any pixel is not wholly opaque; reads the picture.
    package func hasTransparency() throws -> Bool {
        guard hasAlpha else { return false }
        let alpha = try derive("extract_band") { out in
            // Bounded: a picture with alpha has bands.
            unsafe CVips_extract_bands(pointer, out, CInt(bands - 1), 1)
        }
        var least = 0.0
        try check(unsafe CVips_min(alpha.pointer, &least), "min")
        return least < 255
    }

    /// Decodes every pixel and throws the first error.
    package func decodeToEnd() throws {
        var mean = 0.0
        try check(unsafe CVips_avg(pointer, &mean), "avg")
    }

    // MARK: Calls

    @safe private static func make(
        _ operation: String, _ call: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> CInt
    ) throws(VipsError) -> Picture {
        var out: UnsafeMutablePointer<VipsImage>?
        try check(unsafe call(&out), operation)
        guard let image = unsafe out else { throw VipsError(operation) }
        return unsafe Picture(adopting: image)
    }

    @safe func derive(
        _ operation: String, _ call: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> CInt
    ) throws(VipsError) -> Picture {
        try Self.make(operation, call)
    }

    @safe func saved(
        _ operation: String, _ call: (UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>) -> CInt
    ) throws(VipsError) -> [UInt8] {
        var buffer: UnsafeMutableRawPointer?
        var length = 0
        try check(unsafe call(&buffer, &length), operation)
        defer { unsafe g_free(buffer) }
        return unsafe Array(UnsafeRawBufferPointer(start: buffer, count: length))
    }
}
