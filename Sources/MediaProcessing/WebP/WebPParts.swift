import RichPush

/// Where the parts of a WebP of one lossy picture lie.
///
/// Source: Google, "WebP Container Specification".
struct WebPParts {
    struct Size: Hashable {
        let width: Int
        let height: Int
    }

    /// What the extended header says is there; nil without one.
    private var flags: UInt8?
    /// What the extended header says of the size.
    private(set) var canvas: Size?
    private(set) var picture: Range<Int>?
    private(set) var profile: Range<Int>?
    private(set) var exif: Range<Int>?

    private enum Flag {
        static let animation: UInt8 = 0x02
        static let exif: UInt8 = 0x08
        static let alpha: UInt8 = 0x10
        static let profile: UInt8 = 0x20
    }

    /// Nil for another kind, and for a chunk that is unknown, there twice, or not where it belongs.
    init?(_ window: ByteWindow) throws {
        var isPlain = true
        try WebPChunks.walk(window) { type, content in
            isPlain = try take(type, content, window)
            return isPlain
        }
        if !isPlain { return nil }
    }

    /// Whether profile and EXIF are there if they are said to be: where they are not, readers differ.
    var isAsAnnounced: Bool {
        let flags = flags ?? 0
        return (flags & Flag.profile != 0) == (profile != nil) && (flags & Flag.exif != 0) == (exif != nil)
    }

    private mutating func take(_ type: String, _ content: Range<Int>, _ window: ByteWindow) throws -> Bool {
        let isExtended = flags != nil
        switch type {
        case "VP8X" where !isExtended && picture == nil && content.count >= 10:
            // Bounded throughout: the content lies in the file, and sides have three bytes.
            flags = try window.byte(at: content.lowerBound)
            canvas = Size(
                width: try window.littleEndian(at: content.lowerBound + 4, bytes: 3) + 1,
                height: try window.littleEndian(at: content.lowerBound + 7, bytes: 3) + 1)
            return flags.map { $0 & (Flag.animation | Flag.alpha) == 0 } ?? false
        case "VP8 " where picture == nil: picture = content
        case "ICCP" where isExtended && profile == nil && picture == nil: profile = content
        case "EXIF" where isExtended && exif == nil: exif = content
        case "XMP " where isExtended: break
        default: return false
        }
        return true
    }
}
