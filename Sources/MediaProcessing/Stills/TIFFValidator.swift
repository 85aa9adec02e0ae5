import SafeArithmetic

/// Checks that the entries of a TIFF's first directory, and the pixels they point to, lie inside the file.
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

    /// Throws `media.corrupt` when something that the first image needs lies outside the file.
    package static func parse(_ window: ByteWindow) throws {
        let order = try window.characters(at: 0, count: 2)
        let isLittleEndian = order == "II"
        let version = isLittleEndian ? try window.littleEndian(at: 2, bytes: 2) : try window.bigEndian(at: 2, bytes: 2)
        let parser = TIFFValidator(window: window, isLittleEndian: isLittleEndian, isBig: version == 43)
        try parser.directory(at: parser.number(at: parser.isBig ? 8 : 4, bytes: parser.isBig ? 8 : 4))
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

    private func directory(at offset: Int) throws {
        let entries = try number(at: offset, bytes: isBig ? 8 : 2)
        guard (1...Self.entriesMax).contains(entries) else { throw window.broken("\(entries) directory entries") }
        let first = offset + (isBig ? 8 : 2)
        let tags = try (0..<entries).map { try entry(at: first + $0 * (isBig ? 20 : 12)) }
        try parts(tags, offsets: 273, lengths: 279)
        try parts(tags, offsets: 324, lengths: 325)
    }

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
