/// What the eye goes to in a picture: edges, colours that stand out, skin; most of all where they come together.
// Bounded throughout: places in arrays of `width` x `height` values; what is not a place is floating point.
struct Saliency: Sendable {
    let width: Int
    let height: Int
    /// One value a pixel, from 0; all of them together are 1.
    let values: [Double]

    /// - Parameter pixels: sRGB, 8 bits, `bands` (1 or 3) a pixel, rows without padding.
    init(pixels: [UInt8], width: Int, height: Int, bands: Int) {
        self.width = width
        self.height = height
        let colours = ColourPlanes(pixels: pixels, count: width * height, bands: bands)
        let edges = Self.normalised(Self.blurred(Self.edges(colours.luma, width, height), width, height))
        let strange = Self.normalised(Self.blurred(colours.strangeness, width, height))
        let skin = Self.blurred(colours.skin, width, height)
        var values = [Double](repeating: 0, count: width * height)
        for index in values.indices {
            let (column, row) = (index % width, index / width)
            let value =
                edges[index] * 0.5 + strange[index] * 0.8 + skin[index] * 0.9
                + edges[index] * strange[index] * 0.8
            values[index] = value * value * Self.centre(column, row, width, height)
        }
        let sum = values.reduce(0, +)
        self.values = sum > 1e-12 ? values.map { $0 / sum } : values
    }

    /// Sums of the columns, from left to right.
    var columns: [Double] {
        (0..<width).map { column in
            var sum = 0.0
            for row in 0..<height { sum += values[row * width + column] }
            return sum
        }
    }

    /// Sums of the rows, from top to bottom.
    var rows: [Double] {
        (0..<height).map { row in values[(row * width)..<((row + 1) * width)].reduce(0, +) }
    }

    /// A little more in the middle, and in tall pictures above it, where heads are.
    private static func centre(_ column: Int, _ row: Int, _ width: Int, _ height: Int) -> Double {
        let across = (Double(column) + 0.5) / Double(width) - 0.5
        let down = (Double(row) + 0.5) / Double(height) - (height > width ? 0.3 : 0.45)
        let middle = 1 - 0.75 * min(1, (across * across + down * down) * 2)
        // Who is photographed standing has the head in the upper half.
        return height > width && down > 0.15 ? middle * (1.15 - down) * 0.6 : middle
    }

    /// How much a pixel's lightness differs from its neighbours'.
    private static func edges(_ luma: [Double], _ width: Int, _ height: Int) -> [Double] {
        var found = [Double](repeating: 0, count: luma.count)
        guard width > 2, height > 2 else { return found }
        for row in 1..<(height - 1) {
            for column in 1..<(width - 1) {
                let index = row * width + column
                let across = luma[index + 1] - luma[index - 1]
                let down = luma[index + width] - luma[index - width]
                found[index] = (across * across + down * down).squareRoot()
            }
        }
        return found
    }

    /// So that the strongest hundredth is 1: a single hot pixel decides nothing.
    private static func normalised(_ values: [Double]) -> [Double] {
        let sorted = values.sorted()
        guard let last = sorted.last, last > 1e-6 else { return values }
        let strong = max(sorted[min(sorted.count - 1, sorted.count * 99 / 100)], last / 8)
        return values.map { min(1, $0 / strong) }
    }

    /// A box blur in both directions, twice: about a Gaussian of a fortieth of the picture.
    private static func blurred(_ values: [Double], _ width: Int, _ height: Int) -> [Double] {
        let reach = max(1, max(width, height) / 48)
        var result = values
        for _ in 0..<2 {
            result = boxed(result, lines: height, length: width, step: 1, stride: width, reach: reach)
            result = boxed(result, lines: width, length: height, step: width, stride: 1, reach: reach)
        }
        return result
    }

    private static func boxed(
        _ values: [Double], lines: Int, length: Int, step: Int, stride: Int, reach: Int
    ) -> [Double] {
        var result = values
        for line in 0..<lines {
            let start = line * stride
            var sum = 0.0
            for index in 0..<min(reach, length) { sum += values[start + index * step] }
            for index in 0..<length {
                if index + reach < length { sum += values[start + (index + reach) * step] }
                if index > reach { sum -= values[start + (index - reach - 1) * step] }
                let count = min(length - 1, index + reach) - max(0, index - reach) + 1
                result[start + index * step] = sum / Double(count)
            }
        }
        return result
    }
}
