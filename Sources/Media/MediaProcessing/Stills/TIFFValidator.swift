import MediaLibraries
import SafeArithmetic

/// Finds the page of a TIFF that is shown and what its samples mean, and checks that its directory, and the pixels it
/// points to, lie inside the file.
///
/// libtiff reads a truncated file with warnings only, and shows black where its tables are missing. Source: Adobe,
/// "TIFF Revision 6.0", section 2; the BigTIFF design of libtiff.
package struct TIFFValidator {
    private let window: ByteWindow
    private let isLittleEndian: Bool
    private let isBig: Bool

    /// Maximum entries of a directory; real ones have a few dozen.
    private static let entriesMax = 4_096
    /// Maximum strips or tiles that are checked: one strip a row of the tallest supported image.
    private static let partsMax = 200_000

    /// Directories that are read to find the page: a reduced image and masks may be first.
    private static let pagesMax = 16

    /// - Throws: `media.corrupt` when something that the shown image needs lies outside the file.
    package static func parse(_ window: ByteWindow) throws -> TIFFPage {
        let order = try window.characters(at: 0, count: 2)
        let isLittleEndian = order == "II"
        let version = isLittleEndian ? try window.littleEndian(at: 2, bytes: 2) : try window.bigEndian(at: 2, bytes: 2)
        let parser = TIFFValidator(window: window, isLittleEndian: isLittleEndian, isBig: version == 43)
        var offset = try parser.number(at: parser.isBig ? 8 : 4, bytes: parser.isBig ? 8 : 4)
        var first: TIFFPage?
        for number in 0..<pagesMax where number == 0 || offset > 0 {
            let (tags, next) = try parser.directory(at: offset)
            let page = try parser.page(number, tags: tags)
            if number == 0 || !page.isReduced { try parser.parts(tags) }
            if !page.isReduced { return page }
            (first, offset) = (first ?? page, next)
        }
        return first ?? TIFFPage(number: 0, colors: 0, alpha: nil, isReduced: false)
    }

    private init(window: ByteWindow, isLittleEndian: Bool, isBig: Bool) {
        self.window = window
        self.isLittleEndian = isLittleEndian
        self.isBig = isBig
    }

    private func number(at offset: Int, bytes: Int) throws -> Int {
        isLittleEndian
            ? try window.littleEndian(at: offset, bytes: bytes) : try window.bigEndian(at: offset, bytes: bytes)
    }

    /// A tag's values and their offset.
    private struct Entry {
        let tag: Int
        let valueBytes: Int
        let count: Int
        let offset: Int
    }

    // Bounded throughout: an offset lies in the file when it is added to, since a number was read there; entries and
    // parts have a limit, and the values of a tag were checked to lie in the file, or in the entry itself.

    /// The entries of a directory, and the offset of the next one; 0 after the last.
    private func directory(at offset: Int) throws -> (tags: [Entry], next: Int) {
        let entries = try number(at: offset, bytes: isBig ? 8 : 2)
        guard (1...Self.entriesMax).contains(entries) else { throw window.broken("\(entries) directory entries") }
        let first = offset + (isBig ? 8 : 2)
        let tags = try (0..<entries).map { try entry(at: first + $0 * (isBig ? 20 : 12)) }
        // Some writers leave out the offset after the last directory.
        let next = try? number(at: first + entries * (isBig ? 20 : 12), bytes: isBig ? 8 : 4)
        return (tags, next ?? 0)
    }

    private func page(_ page: Int, tags: [Entry]) throws -> TIFFPage {
        func value(_ tag: Int, index: Int = 0) throws -> Int? {
            guard let entry = tags.first(where: { $0.tag == tag }), index < entry.count, entry.valueBytes > 0 else {
                return nil
            }
            return try number(at: entry.offset + index * entry.valueBytes, bytes: entry.valueBytes)
        }
        // RGB, a palette, CMYK, YCbCr and Lab; gray has one. libvips makes colors of a palette's sample.
        let colors = [2: 3, 3: 0, 5: 4, 6: 3, 8: 3][try value(262) ?? 1] ?? 1
        let extras = tags.first { $0.tag == 338 }?.count ?? 0
        let kinds = try (0..<min(extras, Self.extrasMax)).map { try value(338, index: $0) ?? 0 }
        return TIFFPage(
            number: page, colors: colors, alpha: kinds.firstIndex { $0 == 1 || $0 == 2 }.map { colors + $0 },
            isReduced: (try value(254) ?? 0) & Self.reducedOrMask != 0)
    }

    /// Samples beside the colors that are searched for alpha.
    private static let extrasMax = 16
    /// Bits of `NewSubfileType`: a reduced image, and a mask of another page.
    private static let reducedOrMask = 5

    private func entry(at offset: Int) throws -> Entry {
        let tag = try number(at: offset, bytes: 2)
        let valueBytes = Self.bytes(ofType: try number(at: offset + 2, bytes: 2))
        let count = try number(at: offset + 4, bytes: isBig ? 8 : 4)
        let valueOffset = offset + (isBig ? 12 : 8)
        guard count >= 0, let bytes = valueBytes.multiplied(exactly: count) else {
            throw window.broken("tag \(tag) of \(count) values")
        }
        let isInside = bytes <= (isBig ? 8 : 4)
        let values = isInside ? valueOffset : try number(at: valueOffset, bytes: isBig ? 8 : 4)
        guard values >= 0, values <= window.size - bytes else { throw window.cut }
        return Entry(tag: tag, valueBytes: valueBytes, count: count, offset: values)
    }

    /// Bytes of one value of TIFF's types 1 to 18; readers skip unknown types, so they count 0.
    private static func bytes(ofType type: Int) -> Int {
        let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
        return sizes.indices.contains(type) ? sizes[type] : 0
    }

    private func parts(_ tags: [Entry]) throws {
        try parts(tags, offsets: 273, lengths: 279)
        try parts(tags, offsets: 324, lengths: 325)
    }

    /// Checks that each strip or tile lies inside the file.
    private func parts(_ tags: [Entry], offsets: Int, lengths: Int) throws {
        guard let offsets = tags.first(where: { $0.tag == offsets }),
            let lengths = tags.first(where: { $0.tag == lengths }), offsets.valueBytes > 0, lengths.valueBytes > 0
        else { return }
        for part in 0..<min(offsets.count, lengths.count, Self.partsMax) {
            let start = try number(at: offsets.offset + part * offsets.valueBytes, bytes: offsets.valueBytes)
            let length = try number(at: lengths.offset + part * lengths.valueBytes, bytes: lengths.valueBytes)
            guard (0...window.size).contains(start), (0...window.size - start).contains(length) else {
                throw window.cut
            }
        }
    }
}

/// A page of a TIFF: the first that is neither a reduced image nor a mask.
package struct TIFFPage: Sendable, Hashable {
    package let number: Int
    /// Samples of a pixel that are colors, which come first; 0 for a palette.
    package let colors: Int
    /// The index of the sample that is declared as alpha; others beside the colors have no meaning.
    package let alpha: Int?
    package let isReduced: Bool

    /// Opens it with its colors and its alpha alone.
    func open(_ source: CInt) throws -> Image {
        let image = try Image.open(descriptor: source, pages: .number(number))
        // libvips has converted the colors of others, such as palettes.
        guard image.bands > colors, colors == 1 || colors >= 3 else { return image }
        // Bounded: four at most.
        let isUsual = alpha == colors && image.bands == colors + 1
        return isUsual ? image : try image.keeping(colors: colors, alpha: alpha.flatMap { $0 < image.bands ? $0 : nil })
    }
}
