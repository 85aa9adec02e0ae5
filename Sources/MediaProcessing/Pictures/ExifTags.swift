/// What an EXIF block says.
///
/// Source: Exif 2.32, 4.6; TIFF 6.0, section 2.
package enum ExifTags {
    /// What describes the pixels as they are: size, orientation, resolution, where chroma lies, the block's own links
    /// and versions.
    private static let plain: Set<Int> = [
        0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0111, 0x0112, 0x0115, 0x0116, 0x0117, 0x011A, 0x011B, 0x011C, 0x0128,
        0x0213, 0x8769, 0x9000, 0x9101, 0xA000, 0xA001, 0xA002, 0xA003,
    ]
    private static let exifDirectory = 0x8769
    /// Entries of a directory that are looked at; what has more has metadata.
    private static let entriesMax = 200

    /// Whether a block (beginning with its TIFF header) holds more than how the picture stands. What cannot be read
    /// tells more.
    package static func tellMore(_ block: [UInt8]) -> Bool {
        guard block.count >= 8 else { return false }
        let reader = Reader(block: block, isLittleEndian: block[0] == 0x49)
        guard let first = reader.number(at: 4, bytes: 4) else { return true }
        return tellMore(reader, directory: first, depth: 0)
    }

    private static func tellMore(_ reader: Reader, directory: Int, depth: Int) -> Bool {
        guard depth < 2, let count = reader.number(at: directory, bytes: 2), count <= entriesMax else { return true }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = reader.number(at: entry, bytes: 2) else { return true }
            if !plain.contains(tag) { return true }
            if tag == exifDirectory, let next = reader.number(at: entry + 8, bytes: 4),
                tellMore(reader, directory: next, depth: depth + 1)
            {
                return true
            }
        }
        // A second directory is a thumbnail.
        return depth == 0 && reader.number(at: directory + 2 + count * 12, bytes: 4) ?? 0 != 0
    }

    private struct Reader {
        let block: [UInt8]
        let isLittleEndian: Bool

        func number(at offset: Int, bytes: Int) -> Int? {
            guard offset >= 0, offset + bytes <= block.count else { return nil }
            let part = block[offset..<(offset + bytes)]
            return (isLittleEndian ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
