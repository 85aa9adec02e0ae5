package import RichPush

/// Pictures by the bytes their files begin with.
///
/// Sources: the formats' own specifications; `apple-attachments.md` 1.1 and 1.2 for which of them matter.
package enum PictureSignature {
    /// The picture format these bytes begin, or nil.
    package static func format(of first: FirstBytes) -> MediaFormat? {
        plainFormat(of: first) ?? bitmapFormat(of: first) ?? drawnFormat(of: first)
    }

    private static let table: [(signature: [UInt8], format: MediaFormat)] = [
        ([0xFF, 0xD8, 0xFF], .jpeg),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
        (Array("GIF87a".utf8), .gif),
        (Array("GIF89a".utf8), .gif),
        ([0x49, 0x49, 0x2A, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2A], .tiff),
        ([0x49, 0x49, 0x2B, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2B], .tiff),
        ([0x00, 0x00, 0x01, 0x00], .icon),
        ([0x00, 0x00, 0x02, 0x00], .icon),
        (Array("8BPS".utf8), .photoshop),
        ([0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20], .jpeg2000),
        ([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000),
        ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20], .jpegXL),
        ([0xFF, 0x0A], .jpegXL),
    ]

    private static func plainFormat(of first: FirstBytes) -> MediaFormat? {
        if first.has("RIFF"), first.has("WEBP", at: 8) { return .webp }
        // An MPEG stream's 00 00 01 BA is told from an icon's 00 00 01 00 by the fourth byte; an icon also counts.
        return table.first { first.has($0.signature) && ($0.format != .icon || hasIconCount(first)) }?.format
    }

    private static func hasIconCount(_ first: FirstBytes) -> Bool {
        first[4] > 0 && first[5] == 0 && first[9] == 0
    }

    /// "BM" alone begins many a text: the size of the header that follows has few legal values.
    private static func bitmapFormat(of first: FirstBytes) -> MediaFormat? {
        let headerSizes: Set<UInt8> = [12, 40, 52, 56, 64, 108, 124]
        let isBitmap = first.has("BM") && headerSizes.contains(first[14]) && first.has([0, 0, 0], at: 15)
        return isBitmap ? .bmp : nil
    }

    /// SVG is text, so its root element may follow a declaration, a doctype and comments.
    private static func drawnFormat(of first: FirstBytes) -> MediaFormat? {
        let beginsMarkup = first.has("<") || first.has([0xEF, 0xBB, 0xBF, 0x3C])
        let isPage = first.contains("<html", within: 512) || first.contains("<HTML", within: 512)
        return beginsMarkup && !isPage && first.contains("<svg", within: 1024) ? .svg : nil
    }
}
