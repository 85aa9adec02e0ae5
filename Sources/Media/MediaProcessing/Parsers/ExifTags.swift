/// Reads the tags of an EXIF block.
///
/// Source: Exif 2.32, 4.6; TIFF 6.0, section 2.
package enum ExifTags {
    /// Tags that only describe the pixel format: size, orientation, resolution, chroma position, and the block's own
    /// pointers and versions.
    private static let plain: Set<Int> = [
        0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0111, 0x0112, 0x0115, 0x0116, 0x0117, 0x011A, 0x011B, 0x011C, 0x0128,
        0x0213, 0x8769, 0x9000, 0x9101, 0xA000, 0xA001, 0xA002, 0xA003,
    ]
    private static let exifDirectory = 0x8769
    /// Entries of a directory that are read; a directory with more counts as metadata.
    private static let entriesMax = 200

    // Bounded throughout: pointers have four bytes, entries are limited to `entriesMax` and directories to two levels.

    /// Whether a block (beginning with its TIFF header) contains more than orientation and pixel format. An unreadable
    /// block counts as metadata.
    package static func containsMetadata(_ block: [UInt8]) -> Bool {
        guard block.count >= 8 else { return false }
        let reader = Reader(block: block, isLittleEndian: block[0] == 0x49)
        guard let first = reader.number(at: 4, bytes: 4) else { return true }
        return containsMetadata(reader, directory: first, depth: 0)
    }

    private static func containsMetadata(_ reader: Reader, directory: Int, depth: Int) -> Bool {
        guard depth < 2, let count = reader.number(at: directory, bytes: 2), count <= entriesMax else { return true }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = reader.number(at: entry, bytes: 2) else { return true }
            if !plain.contains(tag) { return true }
            if tag == exifDirectory, let next = reader.number(at: entry + 8, bytes: 4),
                containsMetadata(reader, directory: next, depth: depth + 1)
            {
                return true
            }
        }
        // A second directory is a thumbnail.
        return depth == 0 && reader.number(at: directory + 2 + count * 12, bytes: 4) ?? 0 != 0
    }

    /// The facts of a block that matter for display and privacy.
    package struct Facts: Sendable, Hashable {
        /// The EXIF orientation; nil when the block has none.
        package let orientation: Int?
        /// Whether it contains a GPS position.
        package let hasLocation: Bool
    }

    private static let orientationTag = 0x0112
    private static let locationDirectory = 0x8825
    private static let latitudeTag = 0x0002

    /// Reads a block (beginning with its TIFF header); nil when it is corrupt, or when other readers might interpret it
    /// differently.
    package static func facts(_ block: [UInt8]) -> Facts? {
        guard block.count >= 8, let reader = Reader(block), let first = reader.number(at: 4, bytes: 4),
            let main = entries(reader, directory: first)
        else { return nil }
        var orientation: Int?
        if let entry = main[orientationTag] {
            // One SHORT, stored in the entry itself.
            guard reader.number(at: entry + 2, bytes: 2) == 3, reader.number(at: entry + 4, bytes: 4) == 1,
                let number = reader.number(at: entry + 8, bytes: 2), (1...8).contains(number)
            else { return nil }
            orientation = number
        }
        guard let link = main[locationDirectory] else { return Facts(orientation: orientation, hasLocation: false) }
        guard let directory = reader.number(at: link + 8, bytes: 4),
            let location = entries(reader, directory: directory)
        else { return nil }
        return Facts(orientation: orientation, hasLocation: location[latitudeTag] != nil)
    }

    /// The offset of each tag's entry; nil when the directory is truncated, or has a tag twice.
    private static func entries(_ reader: Reader, directory: Int) -> [Int: Int]? {
        guard let count = reader.number(at: directory, bytes: 2), count <= entriesMax else { return nil }
        var offsets: [Int: Int] = [:]
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = reader.number(at: entry, bytes: 2), reader.number(at: entry + 8, bytes: 4) != nil,
                offsets.updateValue(entry, forKey: tag) == nil
            else { return nil }
        }
        return offsets
    }

    private struct Reader {
        let block: [UInt8]
        let isLittleEndian: Bool

        init(block: [UInt8], isLittleEndian: Bool) {
            self.block = block
            self.isLittleEndian = isLittleEndian
        }

        /// Nil without one of TIFF's two signatures.
        init?(_ block: [UInt8]) {
            guard block.starts(with: [0x49, 0x49, 0x2A, 0]) || block.starts(with: [0x4D, 0x4D, 0, 0x2A]) else {
                return nil
            }
            self.init(block: block, isLittleEndian: block[0] == 0x49)
        }

        func number(at offset: Int, bytes: Int) -> Int? {
            guard offset >= 0, offset <= block.count - bytes else { return nil }
            let part = block[offset..<(offset + bytes)]
            return (isLittleEndian ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
