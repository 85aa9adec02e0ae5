import RichPush

/// A WebP of the kind nearly all are, whose container we read ourselves: one lossy picture, opaque, in sRGB, turned or
/// mirrored at most.
///
/// What is not plain goes through libvips, which knows the rest; both ways show the same of the same file.
struct PlainWebP {
    /// Pixels as stored.
    let storedWidth: Int
    /// Pixels as stored.
    let storedHeight: Int
    /// Where the coded picture lies, with the header of its chunk.
    let picture: Range<Int>
    let orientation: Orientation

    /// Longer ones have more in them than how a picture stands.
    private static let exifBytesMax = Limits.walkWindowBytes
    /// No profile of a display is longer; those of printers are.
    private static let profileBytesMax = 1_000_000

    /// Nil for another kind.
    ///
    /// - Throws: `media.corrupt` when a chunk or the file is cut.
    init?(_ window: ByteWindow) throws {
        guard let parts = try WebPParts(window), let content = parts.picture,
            let size = try Self.size(content, window), parts.canvas.map({ $0 == size }) ?? true,
            parts.isAsAnnounced, try parts.profile.map({ try Self.isSRGB($0, window) }) ?? true,
            let orientation = try parts.exif.map({ try Self.orientation($0, window) }) ?? .upright,
            orientation == .upright || (size.width % 2 == 0 && size.height % 2 == 0)
        else { return nil }
        (storedWidth, storedHeight, self.orientation) = (size.width, size.height, orientation)
        // Bounded: a chunk lies behind its header.
        picture = (content.lowerBound - WebPChunks.headerBytes)..<content.upperBound
    }

    /// Pixels as displayed.
    var width: Int { orientation.swapsSides ? storedHeight : storedWidth }
    /// Pixels as displayed.
    var height: Int { orientation.swapsSides ? storedWidth : storedHeight }

    /// Nil for what is no whole picture. RFC 6386, 9.1.
    private static func size(_ content: Range<Int>, _ window: ByteWindow) throws -> WebPParts.Size? {
        // Bounded throughout: the content lies in the file.
        guard content.count >= 10, try window.byte(at: content.lowerBound) & 1 == 0,
            try window.bigEndian(at: content.lowerBound + 3, bytes: 3) == 0x9D012A
        else { return nil }
        // The upper two bits of each are advice for enlarging it, which nobody takes.
        let width = try window.littleEndian(at: content.lowerBound + 6, bytes: 2) & 0x3FFF
        let height = try window.littleEndian(at: content.lowerBound + 8, bytes: 2) & 0x3FFF
        return WebPParts.Size(width: width, height: height)
    }

    private static func isSRGB(_ place: Range<Int>, _ window: ByteWindow) throws -> Bool {
        try place.count <= profileBytesMax && ICCProfile.isSRGB(window.all(in: place))
    }

    /// Nil for a block that cannot be read, or that others may read otherwise.
    private static func orientation(_ place: Range<Int>, _ window: ByteWindow) throws -> Orientation? {
        guard place.count <= exifBytesMax else { return nil }
        var block = try Array(window.whole(at: place.lowerBound, count: place.count))
        // As it stands in a JPEG; the container's own rules want it without.
        if block.starts(with: Array("Exif\0\0".utf8)) { block.removeFirst(6) }
        guard let facts = ExifTags.facts(block) else { return nil }
        return facts.orientation.map { Orientation(rawValue: $0) } ?? .upright
    }
}
