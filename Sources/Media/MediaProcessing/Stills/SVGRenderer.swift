import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Draws an SVG at the size that a notification shows, with librsvg by way of libvips.
///
/// librsvg limits neither time nor nesting: the media process may take 2 s of processor time for a call
/// (`Limits.callProcessorSecondsMin`), and one that it ends in another way is a strike against the file.
enum SVGRenderer {
    /// - Throws: `media.unsupported` for a drawing with what `SVGContent` rejects, `media.too_many_pixels` for one of
    ///   too many bytes, `VipsError` when it cannot be read.
    static func image(descriptor: CInt, deadline: ContinuousClock.Instant) throws -> Image {
        let window = try ByteWindow(descriptor: descriptor, noun: "drawing", deadline: deadline)
        guard window.size <= Limits.svgBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The SVG has \(window.size.grouped) bytes, over the limit of \(Limits.svgBytesMax.grouped); send a "
                    + "PNG.")
        }
        let bytes = try window.all(in: 0..<window.size)
        guard SVGContent.hasASCIIMarkup(bytes), !SVGContent.hasRejected(bytes) else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The SVG has text, images, entities, character references, data URLs, references to other files or an "
                    + "encoding other than UTF-8, which are not drawn; convert text to paths and save it as plain SVG, "
                    + "or send a PNG.")
        }
        let drawing = try Image.openDrawing(descriptor: descriptor, scale: 1)
        let longSide = max(drawing.width, drawing.height, 1)
        let scale = Double(Limits.svgSidePixels) / Double(longSide)
        let image = try Image.openDrawing(descriptor: descriptor, scale: scale)
        try ImageLimits.check(width: image.width, height: image.height)
        return try image.inSRGB().inMemory()
    }
}

/// Finds by a search for bytes what would be missing from a drawing: the sandbox has no fonts and no files, librsvg
/// gets no address to resolve references against, and gdk-pixbuf decodes embedded images without limits.
package enum SVGContent {
    /// Elements that need fonts or other decoders, whatever the prefix of their namespace.
    private static let elements = ["text", "tspan", "textPath", "tref", "foreignObject", "image", "feImage"]
        .map { Array($0.utf8) }
    private static let declarations = ["!ENTITY", "!ATTLIST", "?xml-stylesheet"].map { Array($0.utf8) }
    /// Quotes and white space may precede an address.
    private static let beforeAddress = Array("\"' \t\r\n".utf8)

    /// Whether it has a start tag with the name of such an element, what can stand for one (entities, attributes with
    /// defaults, character references, data URLs, which librsvg loads as documents), or refers to another file.
    package static func hasRejected(_ bytes: [UInt8]) -> Bool {
        var isLink = false
        for index in bytes.indices {
            let rest = bytes[(index + 1)...]
            switch bytes[index] {
            case UInt8(ascii: "<"):
                if isRejectedElement(rest) || declarations.contains(where: rest.starts) { return true }
                isLink = rest.first == UInt8(ascii: "a") && rest.dropFirst().first.map(isNameEnd) == true
            case UInt8(ascii: ":"):
                if isRejectedElement(rest) || has("data", in: bytes[..<index].suffix(4)) { return true }
            case UInt8(ascii: "&"): if rest.first == UInt8(ascii: "#") { return true }
            case UInt8(ascii: "@"): if has("import", in: rest) { return true }
            case UInt8(ascii: "h"):
                if !isLink, has("ref", in: rest), isOutside(attribute: rest.dropFirst(3)) { return true }
            case UInt8(ascii: "u"), UInt8(ascii: "U"):
                if has("rl(", in: rest), isOutside(address: rest.dropFirst(3)) { return true }
            default: break
            }
        }
        return false
    }

    private static func isRejectedElement(_ rest: ArraySlice<UInt8>) -> Bool {
        elements.contains { name in
            rest.starts(with: name) && rest.dropFirst(name.count).first.map(isNameEnd) ?? true
        }
    }

    private static func isNameEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == UInt8(ascii: ">") || byte == 0x2F }

    /// Whether this ASCII text follows, in either case.
    private static func has(_ text: StaticString, in rest: ArraySlice<UInt8>) -> Bool {
        let wanted = "\(text)".utf8
        return rest.prefix(wanted.count).map { $0 >= 0x40 ? $0 | 0x20 : $0 }.elementsEqual(wanted)
    }

    /// Whether an attribute's value begins there that is not a name in the same document.
    private static func isOutside(attribute rest: ArraySlice<UInt8>) -> Bool {
        let equals = rest.drop { $0 <= 0x20 }
        guard equals.first == UInt8(ascii: "=") else { return false }
        let value = equals.dropFirst().drop { $0 <= 0x20 }
        guard let quote = value.first, quote == 0x22 || quote == 0x27 else { return false }
        let first = value.dropFirst().first { $0 > 0x20 }
        return first != UInt8(ascii: "#") && first != quote
    }

    /// Whether an address of CSS is not a name in the same document.
    private static func isOutside(address rest: ArraySlice<UInt8>) -> Bool {
        var address = rest.drop(while: beforeAddress.contains)
        if address.starts(with: "&quot;".utf8) || address.starts(with: "&apos;".utf8) { address = address.dropFirst(6) }
        return address.first != UInt8(ascii: "#")
    }

    /// Whether its encoding writes markup as ASCII does, so that `hasRejected` finds it: in UTF-7 or UTF-16, a tag can
    /// begin without the byte of `<`.
    package static func hasASCIIMarkup(_ bytes: [UInt8]) -> Bool {
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard content.first(where: { $0 > 0x20 }) == UInt8(ascii: "<"), !content.contains(0) else { return false }
        let declaration = String(decoding: content.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self).lowercased()
        guard let name = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)/)?.1 else { return true }
        return ["utf-8", "us-ascii", "iso-8859-", "windows-125"].contains { name.hasPrefix($0) }
    }
}

extension Limits {
    /// Bytes of an SVG, which librsvg keeps in memory as a tree; librsvg's own limit is the same.
    static let svgBytesMax = 10_000_000
    /// Pixels of the longer side, the width of a notification.
    static let svgSidePixels = 1_280
}
