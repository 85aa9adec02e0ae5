/// Finds the nearest palette index for any color. For each cell of color space, the few candidate indexes are
/// determined at the first query, from those of the surrounding block.
struct NearestColorFinder {
    /// Bits of a component that select a cell, and a block of cells.
    private static let cellBits = 5
    private static let blockBits = 3
    /// Bits for the number of indexes of a cell: 1 to 256.
    private static let countBits = 9

    let palette: GIFPalette
    /// All colors, and the candidates of each block queried so far.
    private var rows = SIMDColorTable()
    private let all: Range<Int>
    private var blocks = [Range<Int>](repeating: 0..<0, count: 1 << (3 * blockBits))
    /// The start of a cell's colors in `entries`, and their number; 0 if not queried yet.
    private let cells = UnsafeArray<Int>(repeating: 0, count: 1 << (3 * cellBits))
    private var entries: [SIMDColorTable.Entry] = []
    /// The last query, since neighboring pixels are often equal.
    private var last: (color: PackedColor, index: UInt8, distance: Int32) = (0, 0, 0)

    init(_ palette: GIFPalette) {
        self.palette = palette
        all = rows.add(
            palette.colors.enumerated().filter { $0.element != 0 }.map {
                SIMDColorTable.Entry(color: $0.element, index: UInt8($0.offset))
            })
    }

    /// The first of the nearest indexes, and its distance.
    @inline(__always) mutating func nearest(to color: PackedColor) -> (index: UInt8, distance: Int32) {
        if color == last.color { return (last.index, last.distance) }
        let shift = 8 - Self.cellBits
        let cell =
            (color.red >> shift) << (2 * Self.cellBits) | (color.green >> shift) << Self.cellBits
            | color.blue >> shift
        var known = cells[cell]
        if known == 0 { known = collect(cell) }
        let start = known >> Self.countBits
        let end = start &+ known & (1 << Self.countBits - 1)
        var (best, least) = (0 as UInt8, Int32.max)
        unsafe entries.withUnsafeBufferPointer { entries in
            for position in start..<end {
                let entry = unsafe entries[position]
                let distance = entry.color.distance(to: color)
                if distance < least { (best, least) = (entry.index, distance) }
            }
        }
        last = (color, best, least)
        return (best, least)
    }

    /// The same without filling the cell cache, for a single query per cell; the palette must have colors.
    mutating func nearestIndex(to color: PackedColor) -> UInt8 {
        let shift = 8 - Self.cellBits
        let block = block(red: color.red >> shift, green: color.green >> shift, blue: color.blue >> shift)
        return rows.nearest(to: color, in: block)?.index ?? 0
    }

    private mutating func collect(_ cell: Int) -> Int {
        let (side, mask) = (1 << (8 - Self.cellBits), 1 << Self.cellBits - 1)
        let (red, green, blue) = (cell >> (2 * Self.cellBits), cell >> Self.cellBits & mask, cell & mask)
        let start = entries.count
        let block = block(red: red, green: green, blue: blue)
        let cube = SIMDColorTable.Cube(red: red * side, green: green * side, blue: blue * side, side: side)
        rows.findNearest(to: cube, in: block, &entries)
        // A palette without colors has only its transparent index.
        if entries.count == start { entries.append(SIMDColorTable.Entry(color: 0, index: 0)) }
        let known = start << Self.countBits | (entries.count - start)
        cells[cell] = known
        return known
    }

    /// The rows of all candidates for the block of a cell.
    private mutating func block(red: Int, green: Int, blue: Int) -> Range<Int> {
        let (shift, side) = (Self.cellBits - Self.blockBits, 1 << (8 - Self.blockBits))
        let (red, green, blue) = (red >> shift, green >> shift, blue >> shift)
        let number = red << (2 * Self.blockBits) | green << Self.blockBits | blue
        guard blocks[number].isEmpty else { return blocks[number] }
        var found: [SIMDColorTable.Entry] = []
        let cube = SIMDColorTable.Cube(red: red * side, green: green * side, blue: blue * side, side: side)
        rows.findNearest(to: cube, in: all, &found)
        blocks[number] = rows.add(found)
        return blocks[number]
    }
}

/// Palette colors in rows of eight, compared with SIMD.
///
/// Components are integers, so their squares are exact in Float.
struct SIMDColorTable {
    private typealias Eight = SIMD8<Float>

    /// A palette color and its index.
    struct Entry: BitwiseCopyable {
        let color: PackedColor
        let index: UInt8
    }

    /// A cube of color space.
    struct Cube {
        fileprivate let low: SIMD3<Float>
        fileprivate let high: SIMD3<Float>

        /// Starts at its darkest color.
        init(red: Int, green: Int, blue: Int, side: Int) {
            low = SIMD3(Float(red), Float(green), Float(blue))
            high = low + Float(side - 1)
        }
    }

    /// Fills up a row: farther away than any color.
    private static let nowhere: Float = 10_000

    private var entries: [Entry] = []
    private var red: [Eight] = []
    private var green: [Eight] = []
    private var blue: [Eight] = []
    /// A distance for each of 256 colors.
    private let distances = UnsafeArray(repeating: Eight.zero, count: 256 / Eight.scalarCount)

    /// Adds colors in new rows.
    mutating func add(_ added: some Collection<Entry>) -> Range<Int> {
        let start = red.count
        for (position, entry) in added.enumerated() {
            let lane = position % Eight.scalarCount
            if lane == 0 {
                red.append(Eight(repeating: Self.nowhere))
                green.append(Eight(repeating: Self.nowhere))
                blue.append(Eight(repeating: Self.nowhere))
                entries += repeatElement(entry, count: Eight.scalarCount)
            }
            red[red.count - 1][lane] = Float(entry.color.red)
            green[green.count - 1][lane] = Float(entry.color.green)
            blue[blue.count - 1][lane] = Float(entry.color.blue)
            entries[entries.count - Eight.scalarCount + lane] = entry
        }
        return start..<red.count
    }

    /// Appends, in order, the colors of some rows that can be nearest to a color in the cube: their minimum distance to
    /// it is at most the lowest maximum distance of any color.
    func findNearest(to cube: Cube, in rows: Range<Int>, _ found: inout [Entry]) {
        var reach = Eight(repeating: .infinity)
        for row in rows {
            let (reds, greens, blues) = (red[row], green[row], blue[row])
            let farthest = Self.distance(
                red: Self.farther(reds, low: cube.low.x, high: cube.high.x),
                green: Self.farther(greens, low: cube.low.y, high: cube.high.y),
                blue: Self.farther(blues, low: cube.low.z, high: cube.high.z))
            reach.replace(with: farthest, where: farthest .< reach)
            distances[row - rows.lowerBound] = Self.distance(
                red: Self.outside(reds, low: cube.low.x, high: cube.high.x),
                green: Self.outside(greens, low: cube.low.y, high: cube.high.y),
                blue: Self.outside(blues, low: cube.low.z, high: cube.high.z))
        }
        let least = reach.min()
        for row in rows {
            let nearest = distances[row - rows.lowerBound]
            guard any(nearest .<= least) else { continue }
            for lane in 0..<Eight.scalarCount where nearest[lane] <= least {
                found.append(entries[row * Eight.scalarCount + lane])
            }
        }
    }

    /// The first of the nearest colors of some rows; nil without colors.
    func nearest(to color: PackedColor, in rows: Range<Int>) -> Entry? {
        let (red, green, blue) = (Float(color.red), Float(color.green), Float(color.blue))
        var (least, nearestRows) = (Eight(repeating: .infinity), Eight.zero)
        for row in rows {
            let distance = Self.distance(
                red: self.red[row] - red, green: self.green[row] - green, blue: self.blue[row] - blue)
            nearestRows.replace(with: Eight(repeating: Float(row)), where: distance .< least)
            least.replace(with: distance, where: distance .< least)
        }
        let lanes = (0..<Eight.scalarCount).filter { least[$0] == least.min() }
        return lanes.map { Int(nearestRows[$0]) * Eight.scalarCount + $0 }.min().map { entries[$0] }
    }

    /// Distance from the farther end of a side.
    @inline(__always) private static func farther(_ values: Eight, low: Float, high: Float) -> Eight {
        let (above, below) = (values - low, high - values)
        return above.replacing(with: below, where: below .> above)
    }

    /// Distance from a side; 0 inside.
    @inline(__always) private static func outside(_ values: Eight, low: Float, high: Float) -> Eight {
        let (above, below) = (values - high, low - values)
        let most = above.replacing(with: below, where: below .> above)
        return most.replacing(with: 0, where: most .< 0)
    }

    @inline(__always) private static func distance(red: Eight, green: Eight, blue: Eight) -> Eight {
        red * red * 2 + green * green * 4 + blue * blue
    }
}
