import AttachPrepModel
import RichPush
import SafeArithmetic
import Vips

/// Draws an SVG at the size that a notification shows, with librsvg by way of libvips.
///
/// librsvg loads nothing from outside of the document, because it is given no address to resolve references against.
/// The sandbox has no fonts, so a drawing with text is rejected instead of being shown without it. One with images is
/// rejected as well: gdk-pixbuf decodes them without limits, or librsvg leaves them out.
enum SVGRenderer {
    /// - Throws: `media.unsupported` for a drawing with text or images, `media.too_many_pixels` for one of too many
    ///   bytes or too deep nesting, `VipsError` when it cannot be read.
    static func image(descriptor: CInt, deadline: ContinuousClock.Instant) throws -> Image {
        let window = try ByteWindow(descriptor: descriptor, noun: "drawing", deadline: deadline)
        guard window.size <= Limits.svgBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The SVG has \(window.size.grouped) bytes, over the limit of \(Limits.svgBytesMax.grouped); send a "
                    + "PNG.")
        }
        let bytes = try window.all(in: 0..<window.size)
        guard hasASCIIMarkup(bytes), !hasOtherMedia(bytes) else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The SVG has text, images, entities, character references, data URLs or an unusual encoding, which are "
                    + "not drawn; convert text to paths and save it as plain SVG, or send a PNG.")
        }
        try checkDepth(bytes, deadline: deadline)
        let drawing = try Image.open(descriptor: descriptor)
        let longSide = max(drawing.width, drawing.height, 1)
        // Bounded: floating point.
        let scale = Double(Limits.svgSidePixels) / Double(longSide)
        let image = try Image.openDrawing(descriptor: descriptor, scale: scale)
        try ImageLimits.check(width: image.width, height: image.height)
        return try image.inSRGB().inMemory()
    }

    /// Rejects a drawing that could take all memory, or the whole stack, of the media process.
    private static func checkDepth(_ bytes: [UInt8], deadline: ContinuousClock.Instant) throws {
        guard let depth = try SVGDepth(bytes, deadline: deadline) else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The SVG has references in a circle or CSS escapes, which are not drawn; save it as plain SVG, or send "
                    + "a PNG.")
        }
        guard depth.layers <= Limits.svgLayersMax, depth.elements <= Limits.svgDepthMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The SVG has \(depth.layers) masks, patterns, filters or transparent groups inside each other, and "
                    + "\(depth.elements) elements; the limits are \(Limits.svgLayersMax) and "
                    + "\(Limits.svgDepthMax). Flatten it, or send a PNG.")
        }
    }

    /// Elements that need fonts or other decoders, whatever the prefix of their namespace.
    private static let rejectedElements = ["text", "tspan", "textPath", "tref", "foreignObject", "image", "feImage"]
        .map { Array($0.utf8) }
    private static let declarations = ["!ENTITY", "!ATTLIST"].map { Array($0.utf8) }
    private static let dataScheme = Array("data".utf8)

    /// Whether it has a start tag with the name of such an element, or what can stand for one: entities, attributes
    /// with defaults, character references, and data URLs, which librsvg loads as documents.
    static func hasOtherMedia(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { index in
            // Bounded: an index in memory.
            let rest = bytes[(index + 1)...]
            switch bytes[index] {
            case UInt8(ascii: "<"): return isRejectedElement(rest) || declarations.contains { rest.starts(with: $0) }
            case UInt8(ascii: ":"):
                return bytes[..<index].suffix(4).map { $0 | 0x20 } == dataScheme || isRejectedElement(rest)
            case UInt8(ascii: "&"): return rest.first == UInt8(ascii: "#")
            default: return false
            }
        }
    }

    private static func isRejectedElement(_ rest: ArraySlice<UInt8>) -> Bool {
        rejectedElements.contains { name in
            rest.starts(with: name) && rest.dropFirst(name.count).first.map(isNameEnd) ?? true
        }
    }

    /// Whether its encoding writes markup as ASCII does, so that `hasOtherMedia` finds it: in UTF-7 or UTF-16, a tag
    /// can begin without the byte of `<`.
    static func hasASCIIMarkup(_ bytes: [UInt8]) -> Bool {
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard content.first(where: { $0 > 0x20 }) == UInt8(ascii: "<"), !content.contains(0) else { return false }
        let declaration = String(decoding: content.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self).lowercased()
        guard let name = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)/)?.1 else { return true }
        return ["utf-8", "us-ascii", "iso-8859-", "windows-125"].contains { name.hasPrefix($0) }
    }

    private static func isNameEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == UInt8(ascii: ">") || byte == 0x2F }
}

extension Limits {
    /// Bytes of an SVG, which librsvg keeps in memory as a tree; librsvg's own limit is the same.
    static let svgBytesMax = 10_000_000
    /// Masks, patterns, filters and transparent groups inside each other: each takes an image of up to 6.6 MB.
    static let svgLayersMax = 64
    /// Elements inside each other, references followed: 2,000 were too many for librsvg on a stack of 8 MB.
    static let svgDepthMax = 512
    /// Pixels of the longer side, the width of a notification.
    static let svgSidePixels = 1_280
}
