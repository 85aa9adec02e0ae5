import CVips
import Glibc

/// A libvips image: an immutable description of pixels that are computed on demand. Owns a VipsImage.
///
/// Not Sendable: an image that streams from a file is read once, from top to bottom, by the thread that opened it.
@safe package final class Image {
    let pointer: UnsafeMutablePointer<VipsImage>

    /// Takes ownership of the reference that an operation returned.
    init(adopting pointer: UnsafeMutablePointer<VipsImage>) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe CVips_unref_image(pointer)
    }

    // MARK: Opening

    /// Which pages of a file to load.
    package enum Pages: Sendable, Hashable {
        /// The one that viewers of stills display.
        case primary
        /// All, stacked vertically.
        case all
        /// One by its index.
        case number(Int)

        /// As loader options. A truncated or corrupt file is an error, never an image with a gray end.
        fileprivate var options: String {
            switch self {
            case .primary: "[fail-on=error]"
            case .all: "[n=-1,fail-on=error]"
            case .number(let page): "[page=\(page),fail-on=error]"
            }
        }
    }

    /// Opens a file for one pass from top to bottom; reads the header, but no pixel yet.
    package static func open(descriptor: CInt, pages: Pages = .primary) throws -> Image {
        let source = try ImageSource(descriptor: descriptor)
        return try make("load") { out in unsafe CVips_image_new_from_source(source.pointer, pages.options, out) }
    }

    /// Opens an SVG drawn at a multiple of its own size.
    package static func openDrawing(descriptor: CInt, scale: Double) throws -> Image {
        let source = try ImageSource(descriptor: descriptor)
        return try make("svgload") { out in unsafe CVips_svgload_source(source.pointer, out, scale) }
    }

    /// Opens a file and reduces it to fit a box, decoding at a lower size where the format can. The result is upright.
    package static func openReduced(descriptor: CInt, width: Int, height: Int) throws -> Image {
        let source = try ImageSource(descriptor: descriptor)
        return try make("thumbnail") { out in
            unsafe CVips_thumbnail_source(
                source.pointer, out, CInt(clamping: width), CInt(clamping: height), Pages.primary.options)
        }
    }

    /// Opens a JPEG and reduces it to exactly the given size, without rotation or color conversion.
    ///
    /// - Parameter shrink: The decoder's own reduction: 1, 2, 4 or 8.
    package static func openReducedAsStored(descriptor: CInt, shrink: Int, width: Int, height: Int) throws -> Image {
        let source = try ImageSource(descriptor: descriptor)
        let options = "[shrink=\(shrink),fail-on=error]"
        let shrunk = try make("load") { out in unsafe CVips_image_new_from_source(source.pointer, options, out) }
        return try shrunk.derive("resize") { out in
            unsafe CVips_resize(
                shrunk.pointer, out, Double(width) / Double(shrunk.width), Double(height) / Double(shrunk.height))
        }
    }

    /// The same for an encoded image in memory, such as cover art; a truncated one is decoded as far as possible.
    package static func openReduced(encoded bytes: [UInt8], width: Int, height: Int) throws -> Image {
        try make("thumbnail") { out in
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe CVips_thumbnail_bytes(
                    buffer.baseAddress, buffer.count, "", out, CInt(clamping: width), CInt(clamping: height))
            }
        }
    }

    /// Opens an encoded image in memory, such as cover art.
    ///
    /// - Parameter isWhole: Whether a truncated image is an error.
    package static func open(encoded bytes: [UInt8], isWhole: Bool = false) throws -> Image {
        try make("load") { out in
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe CVips_image_new_from_bytes(
                    buffer.baseAddress, buffer.count, isWhole ? Pages.primary.options : "", out)
            }
        }
    }

    /// Wraps pixels of 8 bits a band, rows without padding; `orientation` is the EXIF orientation.
    ///
    /// - Parameter colorProfile: The ICC profile of the pixels; nil for sRGB.
    package static func wrap(
        pixels: [UInt8], width: Int, height: Int, bands: Int, orientation: Int, colorProfile: [UInt8]? = nil
    ) throws -> Image {
        precondition(pixels.count == width * height * bands, "pixels do not match the image size")
        let image = unsafe pixels.withUnsafeBytes { buffer in
            unsafe vips_image_new_from_memory_copy(
                buffer.baseAddress, buffer.count, CInt(clamping: width), CInt(clamping: height), CInt(clamping: bands),
                VIPS_FORMAT_UCHAR)
        }
        guard let image = unsafe image else { throw VipsError("new_from_memory") }
        unsafe image.pointee.Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        unsafe vips_image_set_int(image, "orientation", CInt(clamping: orientation))
        if let colorProfile {
            unsafe colorProfile.withUnsafeBytes { profile in
                unsafe vips_image_set_blob_copy(image, "icc-profile-data", profile.baseAddress, profile.count)
            }
        }
        return unsafe Image(adopting: image)
    }

    // MARK: Facts

    /// Width in pixels, as stored.
    package var width: Int { Int(clamping: unsafe vips_image_get_width(pointer)) }
    /// Height of one page in pixels, as stored.
    package var height: Int { Int(clamping: unsafe vips_image_get_page_height(pointer)) }
    /// Bytes of one band of a pixel.
    package var sampleBytes: Int { Int(clamping: vips_format_sizeof(unsafe vips_image_get_format(pointer))) }
    /// Pages that were loaded, stacked vertically.
    package var loadedPages: Int { Int(clamping: unsafe vips_image_get_height(pointer)) / max(1, height) }
    /// Number of bands: colors and alpha.
    package var bands: Int { Int(clamping: unsafe vips_image_get_bands(pointer)) }
    /// Whether the last band is alpha.
    package var hasAlpha: Bool { unsafe vips_image_hasalpha(pointer) != 0 }
    /// The EXIF orientation, 1 when there is none.
    package var orientation: Int { Int(clamping: unsafe vips_image_get_orientation(pointer)) }
    /// The interpretation's name, such as `srgb`, `cmyk`, `b-w`, `rgb16`.
    package var interpretation: String {
        let name = unsafe vips_enum_nick(
            vips_interpretation_get_type(), CInt(clamping: vips_image_get_interpretation(pointer).rawValue))
        return unsafe name.map { unsafe String(cString: $0) } ?? "unknown"
    }
    /// Names of all metadata fields.
    package var fields: [String] {
        guard let names = unsafe vips_image_get_fields(pointer) else { return [] }
        defer { unsafe g_strfreev(names) }
        var found: [String] = []
        while let name = unsafe names[found.count] { found.append(unsafe String(cString: name)) }
        return found
    }
    /// Whether a metadata field of that name exists, such as `icc-profile-data`.
    package func has(_ name: String) -> Bool { unsafe CVips_image_has(pointer, name) != 0 }

    private var isCMYK: Bool { unsafe vips_image_get_interpretation(pointer) == VIPS_INTERPRETATION_CMYK }

    // MARK: Operations

    /// Rotated upright according to the orientation. An image that must be rotated is decoded into memory first, since
    /// its pixels are then not needed from top to bottom.
    package func upright() throws -> Image {
        guard orientation != 1 else { return self }
        return try inMemory().turned()
    }

    /// The same pixels with another EXIF orientation.
    package func oriented(_ orientation: Int) throws -> Image {
        let copy = try derive("copy") { out in
            unsafe CVips_copy_as(pointer, out, vips_image_get_interpretation(pointer))
        }
        unsafe vips_image_set_int(copy.pointer, "orientation", CInt(clamping: orientation))
        return copy
    }

    private func turned() throws -> Image {
        try derive("autorot") { out in unsafe CVips_autorot(pointer, out) }
    }

    /// The same pixels with another color profile, or none.
    package func labeled(colorProfile: [UInt8]?) throws -> Image {
        let labeled = try derive("copy") { out in
            unsafe CVips_copy_as(pointer, out, vips_image_get_interpretation(pointer))
        }
        if let colorProfile {
            unsafe colorProfile.withUnsafeBytes { profile in
                unsafe vips_image_set_blob_copy(
                    labeled.pointer, "icc-profile-data", profile.baseAddress, profile.count)
            }
        } else {
            _ = unsafe vips_image_remove(labeled.pointer, "icc-profile-data")
        }
        return labeled
    }

    /// Converted to sRGB, 8 bits; keeps alpha.
    package func inSRGB() throws -> Image {
        if hasFittingProfile ?? isCMYK, let managed = try? throughProfile() { return managed }
        return try derive("colourspace") { out in unsafe CVips_colourspace_srgb(pointer, out) }.eightBit()
    }

    /// Whether the embedded profile has as many colors as the image: libvips takes any further band for alpha. Nil
    /// without a profile.
    private var hasFittingProfile: Bool? {
        var (data, length) = unsafe (UnsafeRawPointer(bitPattern: 0), 0)
        guard has("icc-profile-data"), unsafe vips_image_get_blob(pointer, "icc-profile-data", &data, &length) == 0,
            let data = unsafe data, length >= Self.profileHeaderBytes
        else { return nil }
        let space = unsafe String(decoding: UnsafeRawBufferPointer(start: data + 16, count: 4), as: UTF8.self)
        let colors = ["GRAY": 1, "RGB ": 3, "Lab ": 3, "CMYK": 4][space]
        return colors == (hasAlpha ? bands - 1 : bands)
    }

    /// ICC.1:2010, 7.2.
    private static let profileHeaderBytes = 128

    /// Converts with the embedded profile. One that does not fit its pixels is ignored, as in browsers.
    private func throughProfile() throws -> Image {
        let fallback = isCMYK ? "cmyk" : "srgb"
        return try derive("icc_transform") { out in unsafe CVips_icc_transform_to_srgb(pointer, out, fallback) }
            .eightBit()
    }

    private func eightBit() throws -> Image {
        guard unsafe vips_image_get_format(pointer) != VIPS_FORMAT_UCHAR else { return self }
        return try derive("cast") { out in unsafe CVips_cast_uchar(pointer, out) }
    }

    /// Decodes the pixels now and keeps them in memory, so that they can be read in any order and repeatedly.
    package func inMemory() throws -> Image {
        guard let image = unsafe vips_image_copy_memory(pointer) else { throw VipsError("copy_memory") }
        return unsafe Image(adopting: image)
    }

    /// Crops to a rectangle in pixels, origin at the top left.
    package func area(left: Int, top: Int, width: Int, height: Int) throws -> Image {
        let part = try derive("extract_area") { out in
            unsafe CVips_extract_area(
                pointer, out, CInt(clamping: left), CInt(clamping: top), CInt(clamping: width), CInt(clamping: height))
        }
        // A crop of stacked pages is a single image: the remaining page height would be taken for the height of a page.
        _ = unsafe vips_image_remove(part.pointer, VIPS_META_PAGE_HEIGHT)
        return part
    }

    /// Reduced to fit a box; never enlarged.
    ///
    /// - Parameter inLight: Whether light is averaged instead of stored samples, which takes several times as long; the
    ///   image must be in sRGB.
    package func reduced(width: Int, height: Int, inLight: Bool = false) throws -> Image {
        // libvips would convert an image with a profile to other colors first.
        if inLight, has("icc-profile-data") {
            return try labeled(colorProfile: nil).reduced(width: width, height: height, inLight: true)
        }
        return try derive("thumbnail_image") { out in
            unsafe CVips_thumbnail_image(
                pointer, out, CInt(clamping: width), CInt(clamping: height), inLight ? 1 : 0)
        }
    }

    /// Stretched to exactly the given size.
    package func stretched(width: Int, height: Int) throws -> Image {
        try derive("thumbnail_image") { out in
            unsafe CVips_thumbnail_image_force(pointer, out, CInt(clamping: width), CInt(clamping: height))
        }
    }

    /// Without its alpha band.
    package func withoutAlpha() throws -> Image {
        guard hasAlpha else { return self }
        return try derive("extract_band") { out in
            unsafe CVips_extract_bands(pointer, out, 0, CInt(bands - 1))
        }
    }

    /// The first bands as colors, with one of the others as alpha.
    package func keeping(colors: Int, alpha: Int?) throws -> Image {
        let kept = try derive("extract_band") { out in
            unsafe CVips_extract_bands(pointer, out, 0, CInt(clamping: colors))
        }
        guard let alpha else { return kept }
        let other = try band(alpha)
        return try kept.derive("bandjoin") { out in unsafe CVips_bandjoin2(kept.pointer, other.pointer, out) }
    }

    /// With an alpha band, opaque where there was none.
    package func withAlpha() throws -> Image {
        guard !hasAlpha else { return self }
        return try derive("addalpha") { out in unsafe CVips_addalpha(pointer, out) }
    }

    /// The pixels of an image with 8 bits a band, rows without padding.
    package func pixels() throws -> [UInt8] {
        var length = 0
        guard let memory = unsafe vips_image_write_to_memory(pointer, &length) else {
            throw VipsError("write_to_memory")
        }
        defer { unsafe g_free(memory) }
        return unsafe Array(UnsafeRawBufferPointer(start: memory, count: length))
    }

    /// Whether any pixel is not fully opaque; reads the whole image.
    package func hasTransparency() throws -> Bool {
        guard hasAlpha else { return false }
        let alpha = try derive("extract_band") { out in
            unsafe CVips_extract_bands(pointer, out, CInt(bands - 1), 1)
        }
        var least = 0.0
        try check(unsafe CVips_min(alpha.pointer, &least), of: "min")
        return least < 255
    }

    /// Whether no pixel is visible; reads the whole image.
    package func isInvisible() throws -> Bool {
        guard hasAlpha else { return false }
        let alpha = try band(bands - 1)
        var most = 0.0
        try check(unsafe CVips_max(alpha.pointer, &most), of: "max")
        return most == 0
    }

    /// Decodes every pixel and throws the first error.
    package func decodeToEnd() throws {
        var mean = 0.0
        try check(unsafe CVips_avg(pointer, &mean), of: "avg")
    }

    // MARK: Calls

    @safe private static func make(
        _ operation: String, _ call: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> CInt
    ) throws(VipsError) -> Image {
        var out: UnsafeMutablePointer<VipsImage>?
        try check(unsafe call(&out), of: operation)
        guard let image = unsafe out else { throw VipsError(operation) }
        return unsafe Image(adopting: image)
    }

    @safe func derive(
        _ operation: String, _ call: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> CInt
    ) throws(VipsError) -> Image {
        try Self.make(operation, call)
    }

    @safe func saved(
        _ operation: String, _ call: (UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>) -> CInt
    ) throws(VipsError) -> [UInt8] {
        var buffer: UnsafeMutableRawPointer?
        var length = 0
        try check(unsafe call(&buffer, &length), of: operation)
        defer { unsafe g_free(buffer) }
        return unsafe Array(UnsafeRawBufferPointer(start: buffer, count: length))
    }
}

/// Pixel access and comparison.
extension Image {
    /// Calls `body` with the pixels: `height` rows of `width` x `bands` bytes, without padding. Decodes into memory
    /// first.
    package func withPixels<Result>(_ body: (RawSpan) throws -> Result) throws -> Result {
        let held = try inMemory()
        let count = held.width * held.height * held.loadedPages * held.bands
        guard unsafe vips_image_get_format(held.pointer) == VIPS_FORMAT_UCHAR,
            let start = unsafe vips_image_get_data(held.pointer)
        else { throw VipsError("get_data") }
        defer { withExtendedLifetime(held) {} }
        return try body(unsafe RawSpan(_unsafeStart: start, byteCount: count))
    }

    /// Mean over all pixels and bands of the squared difference of 8-bit values; 0 for identical images.
    package func meanSquaredDifference(from other: Image) throws -> Double {
        let difference = try derive("subtract") { out in unsafe CVips_subtract(pointer, other.pointer, out) }
        let squared = try difference.derive("multiply") { out in
            unsafe CVips_multiply(difference.pointer, difference.pointer, out)
        }
        var mean = 0.0
        try check(unsafe CVips_avg(squared.pointer, &mean), of: "avg")
        return mean
    }

    /// The first band alone as gray, with alpha where there is one; for images whose color bands are equal.
    package func asGray() throws -> Image {
        let gray = try band(0)
        let labeled = try gray.derive("copy") { out in
            unsafe CVips_copy_as(gray.pointer, out, VIPS_INTERPRETATION_B_W)
        }
        guard hasAlpha else { return labeled }
        let alpha = try band(bands - 1)
        return try labeled.derive("bandjoin") { out in unsafe CVips_bandjoin2(labeled.pointer, alpha.pointer, out) }
    }

    /// Composed over a gray background; `gray` is from 0 to 255.
    package func flattened(onGray gray: Double) throws -> Image {
        guard hasAlpha else { return self }
        return try derive("flatten") { out in unsafe CVips_flatten(pointer, out, gray) }
    }

    private func band(_ index: Int) throws -> Image {
        try derive("extract_band") { out in unsafe CVips_extract_bands(pointer, out, CInt(clamping: index), 1) }
    }
}

/// An open file as a libvips source. Owns a VipsSource.
///
/// C: `vips_source_new_from_descriptor`, which works on a duplicate and leaves the caller's descriptor open.
@safe final class ImageSource {
    let pointer: UnsafeMutablePointer<VipsSource>

    /// Seeks to the start first, since the duplicate shares its offset with the original.
    init(descriptor: CInt) throws(VipsError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0, let source = unsafe vips_source_new_from_descriptor(descriptor)
        else { throw VipsError("source") }
        unsafe pointer = source
    }

    deinit {
        unsafe CVips_unref_source(pointer)
    }
}
