import AttachPrepModel
import RichPush
import SafeArithmetic
import Vips

/// Draws an SVG at the size that a notification shows, with librsvg by way of libvips.
///
/// librsvg loads nothing from outside of the document, because it is given no address to resolve references against.
/// The sandbox has no fonts, so a drawing with text is rejected instead of being shown without it. One with images is
/// rejected as well: librsvg decodes them without limits, or leaves them out.
enum DrawingRenderer {
    /// - Throws: `media.unsupported` for a drawing with text or images, `media.too_many_pixels` for one of too many
    ///   bytes, `VipsError` when it cannot be read.
    static func image(descriptor: CInt, deadline: ContinuousClock.Instant) throws -> Image {
        let window = try ByteWindow(descriptor: descriptor, noun: "drawing", deadline: deadline)
        guard window.size <= Limits.drawingBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The SVG has \(window.size.grouped) bytes, over the limit of \(Limits.drawingBytesMax.grouped); send a "
                    + "PNG.")
        }
        if needsMore(try window.all(in: 0..<window.size)) {
            throw AttachPrepError(
                .mediaUnsupported,
                "The SVG has text or images, which are not drawn; convert text to paths, or send a PNG.")
        }
        let drawing = try Image.open(descriptor: descriptor)
        let longSide = max(drawing.width, drawing.height, 1)
        // Bounded: floating point.
        let scale = Double(Limits.drawingSidePixels) / Double(longSide)
        let image = try Image.openDrawing(descriptor: descriptor, scale: scale)
        try ImageLimits.check(width: image.width, height: image.height)
        return try image.inSRGB().inMemory()
    }

    /// Elements that need fonts or other decoders, whatever the prefix of their namespace.
    private static let refused = ["text", "tspan", "textPath", "tref", "foreignObject", "image", "feImage"]
        .map { Array($0.utf8) }

    /// Whether a start tag has the name of one of these elements.
    static func needsMore(_ bytes: [UInt8]) -> Bool {
        let (tag, colon) = (UInt8(ascii: "<"), UInt8(ascii: ":"))
        return bytes.indices.contains { index in
            guard bytes[index] == tag || bytes[index] == colon else { return false }
            // Bounded: an index in memory.
            let rest = bytes[(index + 1)...]
            return refused.contains { name in
                rest.starts(with: name) && rest.dropFirst(name.count).first.map(isNameEnd) ?? true
            }
        }
    }

    private static func isNameEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == UInt8(ascii: ">") || byte == 0x2F }
}

extension Limits {
    /// Bytes of an SVG, which is in memory as a tree: librsvg accepts as many.
    static let drawingBytesMax = 10_000_000
    /// Pixels of the longer side: as many as a notification shows.
    static let drawingSidePixels = 1_280
}
