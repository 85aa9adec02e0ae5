/// Sums over boxes of colour space in constant time: how many pixels, and their components.
///
/// Source: X. Wu, "Color Quantization by Dynamic Programming and Principal Analysis", 1992.
struct ColourMoments {
    /// Cells of a side, and one more for the sum of none.
    static let side = 33

    /// Pixels, and the sums of their red, green and blue.
    typealias Sums = SIMD4<Double>

    /// A box of cells: above `low`, up to and with `high`, for red, green and blue.
    struct Box {
        var low = SIMD3<Int>(repeating: 0)
        var high = SIMD3<Int>(repeating: 32)
    }

    /// Sums of all cells up to each one.
    private var sums = [Sums](repeating: .zero, count: side * side * side)

    init(_ cells: [ColourHistogram.Cell]) {
        for red in 1..<Self.side {
            var plane = [Sums](repeating: .zero, count: Self.side)
            for green in 1..<Self.side {
                var line = Sums.zero
                for blue in 1..<Self.side {
                    let cell = cells[(red - 1) << 10 | (green - 1) << 5 | (blue - 1)]
                    if cell.count > 0 { line += cell.sums }
                    plane[blue] += line
                    sums[Self.index(red, green, blue)] = plane[blue] + sums[Self.index(red - 1, green, blue)]
                }
            }
        }
    }

    @inline(__always) private static func index(_ red: Int, _ green: Int, _ blue: Int) -> Int {
        (red * side + green) * side + blue
    }

    func sums(of box: Box) -> Sums {
        let (low, high) = (box.low, box.high)
        let upper = face(high.x, low, high)
        return upper - face(low.x, low, high)
    }

    private func face(_ red: Int, _ low: SIMD3<Int>, _ high: SIMD3<Int>) -> Sums {
        sums[Self.index(red, high.y, high.z)] - sums[Self.index(red, high.y, low.z)]
            - sums[Self.index(red, low.y, high.z)] + sums[Self.index(red, low.y, low.z)]
    }

    /// The squares of the sums over the pixels: what two boxes have more of it than one, they vary less.
    static func energy(_ sums: Sums) -> Double {
        guard sums.x > 0 else { return 0 }
        return (2 * sums.y * sums.y + 4 * sums.z * sums.z + sums.w * sums.w) / sums.x
    }
}
