import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Decodes the largest image of a Windows icon.
package enum IconDecoder {
    /// - Throws: `media.corrupt` when the file is truncated or the image does not decode, `media.unsupported`,
    ///   `media.too_many_pixels`, `deadline.exceeded`.
    static func image(descriptor: CInt, deadline: ContinuousClock.Instant) throws -> Image {
        let window = try ByteWindow(descriptor: descriptor, noun: "icon", deadline: deadline)
        let entry = try IconEntry.largest(in: window)
        let bytes = try window.all(in: entry.range)
        if IconEntry.isPNG(bytes) { return try png(bytes) }
        let bitmap = try IconBitmap(bytes)
        let decoded = try readingMedia { try BMPDecoder.decode(bitmap.file, broken: window.broken("no image data")) }
        let frame = bitmap.masked(decoded)
        return try Image.wrap(
            pixels: frame.bytes, width: frame.width, height: frame.height, bands: frame.bands, orientation: 1
        ).inMemory()
    }

    private static func png(_ bytes: [UInt8]) throws -> Image {
        let window = ByteWindow(bytes: bytes, noun: "icon")
        let parser = try PNGParser.parse(window)
        try IconEntry.check(width: parser.width, height: parser.height)
        let image = try Image.open(encoded: bytes, isWhole: true)
        return try (DeclaredColors.png(window)?.inSRGB(image) ?? image.inSRGB()).inMemory()
    }
}

/// One image of an icon: a PNG, or a BMP without file header whose height counts a mask as well.
///
/// Source: Microsoft, "Icons" (1995), and "Icons" in the Windows app development documentation for PNG.
package struct IconEntry: Sendable, Hashable {
    /// The range of its bytes, inside the file.
    package let range: Range<Int>
    /// Size in pixels, as the directory declares it.
    package let width: Int
    package let height: Int
    /// Bits per pixel, as the directory declares them.
    private let depth: Int

    // Bounded throughout: the count has 16 bits, offsets and lengths four bytes, and the pixels are limited.

    /// The entry with the most pixels, of several the one with the most colors.
    ///
    /// - Throws: `media.corrupt` when there is none, or one lies outside of the file.
    package static func largest(in window: ByteWindow) throws -> IconEntry {
        let count = try window.littleEndian(at: 4, bytes: 2)
        guard count > 0, count <= Limits.iconEntriesMax else { throw window.broken("\(count) images") }
        let entries = try (0..<count).map { try IconEntry(at: 6 + 16 * $0, of: window) }
        guard let largest = entries.max(by: { $0.order < $1.order }) else { throw window.broken("no image") }
        return largest
    }

    private init(at offset: Int, of window: ByteWindow) throws {
        let (width, height) = try (window.byte(at: offset), window.byte(at: offset + 1))
        self.width = width == 0 ? 256 : Int(width)
        self.height = height == 0 ? 256 : Int(height)
        depth = try window.littleEndian(at: offset + 6, bytes: 2)
        let length = try window.littleEndian(at: offset + 8, bytes: 4)
        let start = try window.littleEndian(at: offset + 12, bytes: 4)
        guard length >= 40 else { throw window.broken("an image of \(length) bytes") }
        guard start + length <= window.size else { throw window.cut }
        range = start..<start + length
    }

    private var order: (Int, Int) { (width * height, depth) }

    static func isPNG(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) }

    /// Throws `media.too_many_pixels` for more than any icon has.
    static func check(width: Int, height: Int) throws {
        try ImageLimits.check(width: width, height: height)
        guard width * height > Limits.iconPixelsMax else { return }
        throw AttachPrepError(
            .mediaTooManyPixels,
            "The icon is \(width) x \(height), over the limit of \(Limits.iconPixelsMax.grouped) pixels; send a PNG.")
    }
}

/// A BMP as it is stored in an icon, and the mask behind its pixels.
package struct IconBitmap {
    /// The same as a BMP file.
    package let file: [UInt8]
    private let width: Int
    private let height: Int
    private let isTopDown: Bool
    /// One bit a pixel, 1 for transparent; empty where the file has none.
    private let mask: ArraySlice<UInt8>

    // Bounded throughout: sides are at most 2^16 and their product is limited, depths have 16 bits and are listed, and
    // what is read lies in memory.

    /// - Throws: `media.corrupt`, `media.unsupported`, `media.too_many_pixels`.
    package init(_ bytes: [UInt8]) throws {
        let window = ByteWindow(bytes: bytes, noun: "icon")
        let headerBytes = try window.littleEndian(at: 0, bytes: 4)
        let storedHeight = Int(Int32(truncatingIfNeeded: try window.littleEndian(at: 8, bytes: 4)))
        width = Int(clamping: Int32(truncatingIfNeeded: try window.littleEndian(at: 4, bytes: 4)))
        height = abs(storedHeight) / 2
        isTopDown = storedHeight < 0
        let depth = try window.littleEndian(at: 14, bytes: 2)
        let compression = try window.littleEndian(at: 16, bytes: 4)
        let declaredColors = try window.littleEndian(at: 32, bytes: 4)
        guard [40, 108, 124].contains(headerBytes), [1, 4, 8, 16, 24, 32].contains(depth),
            [0, 3].contains(compression), declaredColors <= 256
        else { throw window.broken("BMP header in an icon") }
        try IconEntry.check(width: width, height: height)
        let colors = depth > 8 ? declaredColors : declaredColors == 0 ? 1 << depth : declaredColors
        let masks = compression == 3 && headerBytes == 40 ? 12 : 0
        let pixels = headerBytes + masks + colors * 4
        let end = pixels + (width * depth + 31) / 32 * 4 * height
        guard end <= bytes.count else { throw window.cut }
        let maskBytes = (width + 31) / 32 * 4 * height
        // Writers of images with alpha leave the mask out.
        guard end + maskBytes <= bytes.count || depth == 32 else { throw window.cut }
        mask = end + maskBytes <= bytes.count ? bytes[end..<end + maskBytes] : []
        let halved = Self.number(isTopDown ? -height : height)
        file = Self.fileHeader(bytes: end + 14, pixels: pixels + 14) + bytes[..<8] + halved + bytes[12..<end]
    }

    private static func fileHeader(bytes: Int, pixels: Int) -> [UInt8] {
        Array("BM".utf8) + number(bytes) + [0, 0, 0, 0] + number(pixels)
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The decoded pixels with the mask as alpha, unless they have alpha of their own.
    package func masked(_ frame: DecodedFrame) -> DecodedFrame {
        let alphas = stride(from: 3, to: frame.bands == 4 ? frame.bytes.count : 0, by: 4)
        let hasOwnAlpha = alphas.contains { frame.bytes[$0] < 255 }
        guard !hasOwnAlpha, frame.width == width, frame.height == height, mask.contains(where: { $0 != 0 }) else {
            return frame
        }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        let rowBytes = (width + 31) / 32 * 4
        for row in 0..<height {
            let start = mask.startIndex + (isTopDown ? row : height - 1 - row) * rowBytes
            for column in 0..<width {
                let pixel = (row * width + column) * frame.bands
                let isTransparent = mask[start + column / 8] >> (7 - column % 8) & 1 == 1
                pixels += frame.bytes[pixel..<pixel + 3]
                pixels.append(isTransparent ? 0 : 255)
            }
        }
        return DecodedFrame(width: width, height: height, bands: 4, bytes: pixels)
    }
}

extension Limits {
    /// Images of an icon; Windows uses a dozen.
    static let iconEntriesMax = 256
    /// Pixels of an icon's image; Windows uses up to 256 x 256, others up to 1,024 x 1,024.
    static let iconPixelsMax = 16_777_216
}
