/// The nearest index of a palette for any colour: for each cell of colour space that is asked for, the few indexes that
/// can be nearest to anything in it are found once.
struct ColourFinder {
    /// Bits of a component that name a cell.
    private static let cellBits = 5

    let palette: GIFPalette
    /// Where a cell's indexes begin in `indexes`, behind their number; 0 is not asked yet.
    private var starts = [Int32](repeating: 0, count: 1 << (3 * cellBits))
    private var indexes: [UInt8] = [0]
    /// What was asked last: neighbours are often alike.
    private var last: (colour: IndexedColour, index: UInt8) = (0, 0)

    init(_ palette: GIFPalette) {
        self.palette = palette
    }

    mutating func index(of colour: IndexedColour) -> UInt8 {
        if colour == last.colour { return last.index }
        let shift = 8 - Self.cellBits
        let cell =
            (colour.red >> shift) << (2 * Self.cellBits) | (colour.green >> shift) << Self.cellBits
            | colour.blue >> shift
        if starts[cell] == 0 { collect(cell) }
        let start = Int(starts[cell])
        let count = Int(indexes[start])
        // A palette of 256 has 256 candidates at most, which a byte counts as 0.
        let end = start + 1 + (count == 0 ? 256 : count)
        var (best, least) = (0 as UInt8, Int.max)
        for position in start + 1..<end {
            let index = indexes[position]
            let distance = palette.colours[Int(index)].distance(to: colour)
            if distance < least { (best, least) = (index, distance) }
        }
        last = (colour, best)
        return best
    }

    /// Those whose least distance to the cell is not over the least of all greatest distances.
    private mutating func collect(_ cell: Int) {
        let size = 1 << (8 - Self.cellBits)
        let mask = (1 << Self.cellBits) - 1
        let low = SIMD3(cell >> (2 * Self.cellBits), cell >> Self.cellBits & mask, cell & mask) &* size
        let weights = SIMD3(2, 4, 1)
        var reach = Int.max
        var nearest = [Int](repeating: Int.max, count: palette.colours.count)
        for (index, colour) in palette.colours.enumerated() where colour != 0 {
            let point = SIMD3(colour.red, colour.green, colour.blue)
            let (below, above) = (low &- point, point &- (low &+ (size - 1)))
            let outside = pointwiseMax(pointwiseMax(below, above), SIMD3<Int>.zero)
            nearest[index] = (outside &* outside &* weights).wrappedSum()
            let farthest = pointwiseMax(point &- low, (low &+ (size - 1)) &- point)
            reach = min(reach, (farthest &* farthest &* weights).wrappedSum())
        }
        let found = nearest.indices.filter { nearest[$0] <= reach && palette.colours[$0] != 0 }
        starts[cell] = Int32(indexes.count)
        // A palette without a colour has its transparent index.
        indexes.append(UInt8(truncatingIfNeeded: max(1, found.count)))
        indexes += found.isEmpty ? [0] : found.map(UInt8.init)
    }
}
