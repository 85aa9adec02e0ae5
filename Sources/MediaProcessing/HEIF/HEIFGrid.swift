/// How a picture is put together of equal tiles.
///
/// Source: ISO/IEC 23008-12, 6.6.2.3.
struct HEIFGrid: Hashable {
    let columns: Int
    let rows: Int
    /// Pixels of the whole; the tiles at the right and below may hang over.
    let width: Int
    let height: Int

    /// A picture that is one tile.
    init(width: Int, height: Int) {
        (columns, rows) = (1, 1)
        (self.width, self.height) = (width, height)
    }

    init(_ content: Range<Int>, _ window: ByteWindow) throws {
        var reader = HEIFReader(content, window)
        _ = try reader.number(1)
        let isWide = try reader.number(1) & 1 == 1
        // Bounded: one byte each.
        rows = try reader.number(1) + 1
        // Bounded: one byte each.
        columns = try reader.number(1) + 1
        width = try reader.number(isWide ? 4 : 2)
        height = try reader.number(isWide ? 4 : 2)
    }

    /// Whether tiles of that size cover it, none of them for nothing.
    func isCovered(byTilesOf tileWidth: Int, _ tileHeight: Int) -> Bool {
        // Bounded: rows and columns are at most 256, and sides of tiles have four bytes.
        tileWidth > 0 && tileHeight > 0 && (columns - 1) * tileWidth < width && columns * tileWidth >= width
            && (rows - 1) * tileHeight < height && rows * tileHeight >= height
    }
}
