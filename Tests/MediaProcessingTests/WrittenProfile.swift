import TestSupport

/// A colour profile of grey alone, put together tag by tag.
///
/// Source: ICC.1:2010, 7.2 (header), 7.3 (tags), 10.6 (`curv`), 10.31 (`XYZ`).
enum WrittenProfile {
    /// - Parameter gamma: Of the curve from number to light; sRGB's is about 2.2.
    static func grey(gamma: Double) -> [UInt8] {
        let white = MediaBytes.text("XYZ ") + MediaBytes.zeros(4) + daylight
        // A count of one: an exponent with eight bits behind the point.
        let curve =
            MediaBytes.text("curv") + MediaBytes.zeros(4) + MediaBytes.bigEndian(1, 4)
            + MediaBytes.bigEndian(Int(gamma * 256), 2) + MediaBytes.zeros(2)
        let tags = [("wtpt", white), ("kTRC", curve)]
        let start = 128 + 4 + tags.count * 12
        var (table, contents) = (MediaBytes.bigEndian(tags.count, 4), [UInt8]())
        for (name, content) in tags {
            table += MediaBytes.text(name) + MediaBytes.bigEndian(start + contents.count, 4)
            table += MediaBytes.bigEndian(content.count, 4)
            contents += content
        }
        return header(bytes: start + contents.count) + table + contents
    }

    /// The white of the connection space, D50.
    private static let daylight = [0xF6D6, 0x10000, 0xD32D].flatMap { MediaBytes.bigEndian($0, 4) }

    private static func header(bytes: Int) -> [UInt8] {
        let kind = MediaBytes.text("mntrGRAYXYZ ")
        let head = MediaBytes.bigEndian(bytes, 4) + MediaBytes.zeros(4) + [2, 0x40, 0, 0] + kind
        let dated = head + MediaBytes.zeros(12) + MediaBytes.text("acsp")
        return dated + MediaBytes.zeros(28) + daylight + MediaBytes.zeros(48)
    }
}
