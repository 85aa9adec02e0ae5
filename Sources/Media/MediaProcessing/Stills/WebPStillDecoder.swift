import MediaEngine
import MediaLibraries
import MediaTypes

/// Decodes a plain WebP into the components it is coded in.
///
/// libvips supports more variants, but converts each of them to RGB, and back for the JPEG.
enum WebPStillDecoder {
    /// Nil for a WebP that is not plain, takes too much memory or cannot be decoded this way; the file may still be
    /// intact.
    ///
    /// - Throws: `media.too_many_pixels`, `deadline.exceeded`.
    static func decode(source: CInt, deadline: ContinuousClock.Instant) throws -> PlanarImage? {
        let window = try ByteWindow(descriptor: source, noun: "WebP", deadline: deadline)
        guard let webP = try FastPath.attempt({ try PlainWebP(window) }) else { return nil }
        try ImageLimits.check(width: webP.width, height: webP.height)
        guard DecodingMemory.holdsComponents(pixels: webP.width * webP.height, codedBytes: webP.imageData.count) else {
            return nil
        }
        return try FastPath.attempt {
            var components = try WebPDecoder.decode(
                window.all(in: webP.imageData), width: webP.storedWidth, height: webP.storedHeight
            ) { try checkDeadline(deadline) }
            SampleRange.expand(&components.luma, by: .luma)
            SampleRange.expand(&components.blue, by: .chroma)
            SampleRange.expand(&components.red, by: .chroma)
            return PlanarImage(planes: planes(of: components), orientation: webP.orientation)
        }
    }

    private static func planes(of components: WebPComponents) -> [JPEGPlane] {
        let (width, height) = (components.width, components.height)
        let chroma = (WebPComponents.chroma(width), WebPComponents.chroma(height))
        return [
            JPEGPlane(width: width, height: height, samples: components.luma),
            JPEGPlane(width: chroma.0, height: chroma.1, samples: components.blue),
            JPEGPlane(width: chroma.0, height: chroma.1, samples: components.red),
        ]
    }
}

/// A WebP of the most common kind, whose container is parsed here: one lossy image, opaque, in sRGB, at most rotated or
/// mirrored.
///
/// All others are decoded by libvips; both paths show the same file the same way.
struct PlainWebP {
    /// Width in pixels, as stored.
    let storedWidth: Int
    /// Height in pixels, as stored.
    let storedHeight: Int
    /// The range of the coded image, including its chunk header.
    let imageData: Range<Int>
    let orientation: Orientation

    /// Maximum EXIF length; longer blocks contain more than the orientation.
    private static let exifBytesMax = Limits.parseWindowBytes
    /// Maximum profile length: display profiles are shorter, those of printers are longer.
    private static let profileBytesMax = 1_000_000

    /// Nil for another kind.
    ///
    /// - Throws: `media.corrupt` when a chunk or the file is truncated.
    init?(_ window: ByteWindow) throws {
        guard let parts = try WebPChunkLayout(window), let content = parts.imageData,
            let size = try Self.size(content, in: window), parts.canvas.map({ $0 == size }) ?? true,
            parts.matchesHeader, try parts.profile.map({ try Self.isSRGB($0, in: window) }) ?? true,
            let orientation = try parts.exif.map({ try Self.orientation($0, in: window) }) ?? .upright,
            orientation == .upright || (size.width % 2 == 0 && size.height % 2 == 0)
        else { return nil }
        (storedWidth, storedHeight, self.orientation) = (size.width, size.height, orientation)
        imageData = (content.lowerBound - WebPChunks.headerBytes)..<content.upperBound
    }

    /// Width in pixels, as displayed.
    var width: Int { orientation.swapsSides ? storedHeight : storedWidth }
    /// Height in pixels, as displayed.
    var height: Int { orientation.swapsSides ? storedWidth : storedHeight }

    /// Nil for anything but a key frame with a start code. RFC 6386, 9.1.
    private static func size(_ content: Range<Int>, in window: ByteWindow) throws -> WebPChunkLayout.Size? {
        guard content.count >= 10, try window.byte(at: content.lowerBound) & 1 == 0,
            try window.bigEndian(at: content.lowerBound + 3, bytes: 3) == 0x9D012A
        else { return nil }
        // The upper two bits of each are an upscaling hint, which decoders ignore.
        let width = try window.littleEndian(at: content.lowerBound + 6, bytes: 2) & 0x3FFF
        let height = try window.littleEndian(at: content.lowerBound + 8, bytes: 2) & 0x3FFF
        return WebPChunkLayout.Size(width: width, height: height)
    }

    private static func isSRGB(_ range: Range<Int>, in window: ByteWindow) throws -> Bool {
        try range.count <= profileBytesMax && ICCProfile.isSRGB(window.all(in: range))
    }

    /// Nil for a block that cannot be read, or that other readers might interpret differently.
    private static func orientation(_ range: Range<Int>, in window: ByteWindow) throws -> Orientation? {
        guard range.count <= exifBytesMax else { return nil }
        var block = try Array(window.whole(at: range.lowerBound, count: range.count))
        // With the prefix used in JPEG, which the container format does not allow, but some writers add.
        if block.starts(with: Array("Exif\0\0".utf8)) { block.removeFirst(6) }
        guard let facts = ExifTags.facts(block) else { return nil }
        return facts.orientation.map { Orientation(rawValue: $0) } ?? .upright
    }
}

/// The chunk ranges of a WebP with one lossy image.
///
/// Source: Google, "WebP Container Specification".
struct WebPChunkLayout {
    struct Size: Hashable {
        let width: Int
        let height: Int
    }

    /// The flags of the extended header; nil without one.
    private var flags: UInt8?
    /// The canvas size of the extended header.
    private(set) var canvas: Size?
    private(set) var imageData: Range<Int>?
    private(set) var profile: Range<Int>?
    private(set) var exif: Range<Int>?

    private enum Flag {
        static let animation: UInt8 = 0x02
        static let exif: UInt8 = 0x08
        static let alpha: UInt8 = 0x10
        static let profile: UInt8 = 0x20
    }

    /// Nil for another kind, and for a chunk that is unknown, occurs twice, or is out of order.
    init?(_ window: ByteWindow) throws {
        var isPlain = true
        try WebPChunks.parse(window) { type, content in
            isPlain = try record(type, content: content, in: window)
            return isPlain
        }
        if !isPlain { return nil }
    }

    /// Whether profile and EXIF exist exactly if the header announces them; otherwise readers differ.
    var matchesHeader: Bool {
        let flags = flags ?? 0
        return (flags & Flag.profile != 0) == (profile != nil) && (flags & Flag.exif != 0) == (exif != nil)
    }

    private mutating func record(_ type: String, content: Range<Int>, in window: ByteWindow) throws -> Bool {
        let isExtended = flags != nil
        switch type {
        case "VP8X" where !isExtended && imageData == nil && content.count >= 10:
            flags = try window.byte(at: content.lowerBound)
            canvas = Size(
                width: try window.littleEndian(at: content.lowerBound + 4, bytes: 3) + 1,
                height: try window.littleEndian(at: content.lowerBound + 7, bytes: 3) + 1)
            return flags.map { $0 & (Flag.animation | Flag.alpha) == 0 } ?? false
        case "VP8 " where imageData == nil: imageData = content
        case "ICCP" where isExtended && profile == nil && imageData == nil: profile = content
        case "EXIF" where isExtended && exif == nil: exif = content
        case "XMP " where isExtended: break
        default: return false
        }
        return true
    }
}
