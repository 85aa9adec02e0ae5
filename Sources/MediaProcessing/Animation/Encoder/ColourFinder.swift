/// The nearest index of a palette for any colour: for each cell of colour space that is asked for, the few indexes that
/// can be nearest to anything in it are found once, among those of the block that it lies in.
struct ColourFinder {
    /// Bits of a component that name a cell, and a block of cells.
    private static let cellBits = 5
    private static let blockBits = 3
    /// Bits that count the indexes of a cell: 1 to 256.
    private static let countBits = 9

    let palette: GIFPalette
    /// All colours, and those of each block that was asked for.
    private var rows = ColourRows()
    private let all: Range<Int>
    private var blocks = [Range<Int>](repeating: 0..<0, count: 1 << (3 * blockBits))
    /// Where a cell's colours begin in `entries`, and how many they are; 0 is not asked yet.
    private let cells = NumberRow<Int>(repeating: 0, count: 1 << (3 * cellBits))
    private var entries: [ColourRows.Entry] = []
    /// What was asked last: neighbours are often alike.
    private var last: (colour: IndexedColour, index: UInt8, distance: Int32) = (0, 0, 0)

    init(_ palette: GIFPalette) {
        self.palette = palette
        all = rows.add(
            palette.colours.enumerated().filter { $0.element != 0 }.map {
                ColourRows.Entry(colour: $0.element, index: UInt8($0.offset))
            })
    }

    /// The first of those that are nearest, and its distance.
    @inline(__always) mutating func nearest(to colour: IndexedColour) -> (index: UInt8, distance: Int32) {
        if colour == last.colour { return (last.index, last.distance) }
        let shift = 8 - Self.cellBits
        let cell =
            (colour.red >> shift) << (2 * Self.cellBits) | (colour.green >> shift) << Self.cellBits
            | colour.blue >> shift
        var known = cells[cell]
        if known == 0 { known = collect(cell) }
        let start = known >> Self.countBits
        let end = start &+ known & (1 << Self.countBits - 1)
        var (best, least) = (0 as UInt8, Int32.max)
        unsafe entries.withUnsafeBufferPointer { entries in
            for position in start..<end {
                let entry = unsafe entries[position]
                let distance = entry.colour.distance(to: colour)
                if distance < least { (best, least) = (entry.index, distance) }
            }
        }
        last = (colour, best, least)
        return (best, least)
    }

    /// The same for who asks but once in each cell, and has colours.
    mutating func nearestIndex(to colour: IndexedColour) -> UInt8 {
        let shift = 8 - Self.cellBits
        let block = block(colour.red >> shift, colour.green >> shift, colour.blue >> shift)
        return rows.nearest(to: colour, in: block)?.index ?? 0
    }

    private mutating func collect(_ cell: Int) -> Int {
        let (side, mask) = (1 << (8 - Self.cellBits), 1 << Self.cellBits - 1)
        let (red, green, blue) = (cell >> (2 * Self.cellBits), cell >> Self.cellBits & mask, cell & mask)
        let start = entries.count
        let block = block(red, green, blue)
        let cube = ColourRows.Cube(red: red * side, green: green * side, blue: blue * side, side: side)
        rows.findNearest(to: cube, in: block, &entries)
        // A palette without a colour has its transparent index.
        if entries.count == start { entries.append(ColourRows.Entry(colour: 0, index: 0)) }
        let known = start << Self.countBits | (entries.count - start)
        cells[cell] = known
        return known
    }

    /// The rows of those that can be nearest to anything in the block of a cell.
    private mutating func block(_ red: Int, _ green: Int, _ blue: Int) -> Range<Int> {
        let (shift, side) = (Self.cellBits - Self.blockBits, 1 << (8 - Self.blockBits))
        let (red, green, blue) = (red >> shift, green >> shift, blue >> shift)
        let number = red << (2 * Self.blockBits) | green << Self.blockBits | blue
        guard blocks[number].isEmpty else { return blocks[number] }
        var found: [ColourRows.Entry] = []
        let cube = ColourRows.Cube(red: red * side, green: green * side, blue: blue * side, side: side)
        rows.findNearest(to: cube, in: all, &found)
        blocks[number] = rows.add(found)
        return blocks[number]
    }
}
