/// Colours of a palette side by side, eight in a row, so that all of them are looked at at once.
///
/// Components are whole numbers, and their squares are exact in these.
struct ColourRows {
    private typealias Eight = SIMD8<Float>

    /// A colour of the palette, and where it stands in it.
    struct Entry: BitwiseCopyable {
        let colour: IndexedColour
        let index: UInt8
    }

    /// A cube of colour space.
    struct Cube {
        fileprivate let low: SIMD3<Float>
        fileprivate let high: SIMD3<Float>

        /// From its darkest colour on.
        init(red: Int, green: Int, blue: Int, side: Int) {
            low = SIMD3(Float(red), Float(green), Float(blue))
            high = low + Float(side - 1)
        }
    }

    /// What fills a row up: too far away from everything.
    private static let nowhere: Float = 10_000

    private var entries: [Entry] = []
    private var red: [Eight] = []
    private var green: [Eight] = []
    private var blue: [Eight] = []
    /// A distance for each of the most colours there are.
    private let distances = NumberRow(repeating: Eight.zero, count: 256 / Eight.scalarCount)

    /// Adds colours, in rows of their own.
    mutating func add(_ added: some Collection<Entry>) -> Range<Int> {
        let start = red.count
        for (place, entry) in added.enumerated() {
            let lane = place % Eight.scalarCount
            if lane == 0 {
                red.append(Eight(repeating: Self.nowhere))
                green.append(Eight(repeating: Self.nowhere))
                blue.append(Eight(repeating: Self.nowhere))
                entries += repeatElement(entry, count: Eight.scalarCount)
            }
            red[red.count - 1][lane] = Float(entry.colour.red)
            green[green.count - 1][lane] = Float(entry.colour.green)
            blue[blue.count - 1][lane] = Float(entry.colour.blue)
            entries[entries.count - Eight.scalarCount + lane] = entry
        }
        return start..<red.count
    }

    /// Adds those of some rows that can be the nearest to anything in a cube, in order: their least distance to it is
    /// not over the least of all greatest distances.
    func findNearest(to cube: Cube, in rows: Range<Int>, _ found: inout [Entry]) {
        var reach = Eight(repeating: .infinity)
        for row in rows {
            let (reds, greens, blues) = (red[row], green[row], blue[row])
            let farthest = Self.distance(
                Self.farther(reds, cube.low.x, cube.high.x), Self.farther(greens, cube.low.y, cube.high.y),
                Self.farther(blues, cube.low.z, cube.high.z))
            reach.replace(with: farthest, where: farthest .< reach)
            distances[row - rows.lowerBound] = Self.distance(
                Self.outside(reds, cube.low.x, cube.high.x), Self.outside(greens, cube.low.y, cube.high.y),
                Self.outside(blues, cube.low.z, cube.high.z))
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

    /// The first of those of some rows that are nearest to a colour; nil where there is none.
    func nearest(to colour: IndexedColour, in rows: Range<Int>) -> Entry? {
        let (red, green, blue) = (Float(colour.red), Float(colour.green), Float(colour.blue))
        var (least, places) = (Eight(repeating: .infinity), Eight.zero)
        for row in rows {
            let distance = Self.distance(self.red[row] - red, self.green[row] - green, self.blue[row] - blue)
            places.replace(with: Eight(repeating: Float(row)), where: distance .< least)
            least.replace(with: distance, where: distance .< least)
        }
        let lanes = (0..<Eight.scalarCount).filter { least[$0] == least.min() }
        return lanes.map { Int(places[$0]) * Eight.scalarCount + $0 }.min().map { entries[$0] }
    }

    /// From the end of a side that is farther away.
    @inline(__always) private static func farther(_ values: Eight, _ low: Float, _ high: Float) -> Eight {
        let (above, below) = (values - low, high - values)
        return above.replacing(with: below, where: below .> above)
    }

    /// From a side, 0 for what lies in it.
    @inline(__always) private static func outside(_ values: Eight, _ low: Float, _ high: Float) -> Eight {
        let (above, below) = (values - high, low - values)
        let most = above.replacing(with: below, where: below .> above)
        return most.replacing(with: 0, where: most .< 0)
    }

    @inline(__always) private static func distance(_ red: Eight, _ green: Eight, _ blue: Eight) -> Eight {
        red * red * 2 + green * green * 4 + blue * blue
    }
}
