/// Reduces the number of colors: boxes of color space are cut where that removes most variance, then each color moves
/// to the mean of the pixels assigned to it.
struct ColorQuantizer {
    /// Rounds of moving colors to their means; more change little.
    private static let settlingRounds = 2

    /// At most `count` colors for the histogram's pixels.
    static func colors(of histogram: ColorHistogram, count: Int) -> [PackedColor] {
        if histogram.isExact, histogram.colors.count <= count { return histogram.colors }
        let cells = histogram.cells.filter { $0.count > 0 }
        var colors = cut(ColorMoments(histogram.cells), count: count)
        for _ in 0..<settlingRounds { colors = settled(colors, cells: cells) }
        return Array(Set(colors)).sorted()
    }

    // MARK: Cutting

    private struct ColorBox {
        var box: ColorMoments.Box
        var sums: ColorMoments.Sums
        /// The variance that the best cut removes, and the cut's axis and position.
        var gain = 0.0
        var axis = 0
        var position = 0
    }

    private static func cut(_ moments: ColorMoments, count: Int) -> [PackedColor] {
        var boxes = [judged(ColorMoments.Box(), moments: moments)]
        while boxes.count < count {
            guard let index = boxes.indices.max(by: { boxes[$0].gain < boxes[$1].gain }), boxes[index].gain > 0
            else { break }
            let colorBox = boxes[index]
            var (lower, upper) = (colorBox.box, colorBox.box)
            lower.high[colorBox.axis] = colorBox.position
            upper.low[colorBox.axis] = colorBox.position
            boxes[index] = judged(lower, moments: moments)
            boxes.append(judged(upper, moments: moments))
        }
        return boxes.filter { $0.sums.x > 0 }.map { mean($0.sums) }
    }

    private static func judged(_ box: ColorMoments.Box, moments: ColorMoments) -> ColorBox {
        var colorBox = ColorBox(box: box, sums: moments.sums(of: box))
        let whole = ColorMoments.energy(colorBox.sums)
        for axis in 0..<3 {
            var lower = box
            for position in box.low[axis] + 1..<max(box.low[axis] + 1, box.high[axis]) {
                lower.high[axis] = position
                let sums = moments.sums(of: lower)
                let rest = colorBox.sums - sums
                guard sums.x > 0, rest.x > 0 else { continue }
                let gain = ColorMoments.energy(sums) + ColorMoments.energy(rest) - whole
                if gain > colorBox.gain { (colorBox.gain, colorBox.axis, colorBox.position) = (gain, axis, position) }
            }
        }
        return colorBox
    }

    private static func mean(_ sums: ColorMoments.Sums) -> PackedColor {
        PackedColor(
            red: Int((sums.y / sums.x).rounded()), green: Int((sums.z / sums.x).rounded()),
            blue: Int((sums.w / sums.x).rounded()))
    }

    // MARK: Refining

    private static func settled(_ colors: [PackedColor], cells: [ColorHistogram.Cell]) -> [PackedColor] {
        var finder = NearestColorFinder(GIFPalette(colors, hasTransparency: false))
        var sums = [ColorMoments.Sums](repeating: .zero, count: colors.count)
        for cell in cells { sums[Int(finder.nearestIndex(to: mean(cell.sums)))] += cell.sums }
        return colors.indices.map { sums[$0].x > 0 ? mean(sums[$0]) : colors[$0] }
    }
}

/// Sums over boxes of color space in constant time: number of pixels, and sums of their components.
///
/// Source: X. Wu, "Color Quantization by Dynamic Programming and Principal Analysis", 1992.
struct ColorMoments {
    /// Cells of a side, and one more for the empty prefix sum.
    static let side = 33

    /// Number of pixels, and the sums of their red, green and blue.
    typealias Sums = SIMD4<Double>

    /// A box of cells: above `low` up to and including `high`, for red, green and blue.
    struct Box {
        var low = SIMD3<Int>(repeating: 0)
        var high = SIMD3<Int>(repeating: 32)
    }

    /// Prefix sums of all cells.
    private var sums = [Sums](repeating: .zero, count: side * side * side)

    init(_ cells: [ColorHistogram.Cell]) {
        for red in 1..<Self.side {
            var plane = [Sums](repeating: .zero, count: Self.side)
            for green in 1..<Self.side {
                var line = Sums.zero
                for blue in 1..<Self.side {
                    let cell = cells[(red - 1) << 10 | (green - 1) << 5 | (blue - 1)]
                    if cell.count > 0 { line += cell.sums }
                    plane[blue] += line
                    sums[Self.index(red: red, green: green, blue: blue)] =
                        plane[blue] + sums[Self.index(red: red - 1, green: green, blue: blue)]
                }
            }
        }
    }

    @inline(__always) private static func index(red: Int, green: Int, blue: Int) -> Int {
        (red * side + green) * side + blue
    }

    func sums(of box: Box) -> Sums {
        let (low, high) = (box.low, box.high)
        let upper = face(red: high.x, low: low, high: high)
        return upper - face(red: low.x, low: low, high: high)
    }

    private func face(red: Int, low: SIMD3<Int>, high: SIMD3<Int>) -> Sums {
        sums[Self.index(red: red, green: high.y, blue: high.z)] - sums[Self.index(red: red, green: high.y, blue: low.z)]
            - sums[Self.index(red: red, green: low.y, blue: high.z)]
            + sums[Self.index(red: red, green: low.y, blue: low.z)]
    }

    /// The squared sums divided by the number of pixels. The gain of a cut in this value is the variance it removes.
    static func energy(_ sums: Sums) -> Double {
        guard sums.x > 0 else { return 0 }
        return (2 * sums.y * sums.y + 4 * sums.z * sums.z + sums.w * sums.w) / sums.x
    }
}

/// Counts colors: exactly as long as they are few, otherwise in 32,768 cells.
struct ColorHistogram {
    /// Maximum number of colors that are counted exactly: the size of a palette.
    static let exactMax = 256
    static let cellsMax = 32_768

    private(set) var isExact = true
    private var table = [PackedColor](repeating: 0, count: 1024)
    /// The distinct colors in order of appearance, while they are few.
    private(set) var colors: [PackedColor] = []
    private(set) var cells: [Cell] = []

    /// Pixels of a cell and the sums of their components.
    struct Cell {
        var count = 0
        var red = 0
        var green = 0
        var blue = 0

        var sums: ColorMoments.Sums { ColorMoments.Sums(Double(count), Double(red), Double(green), Double(blue)) }
    }

    @inline(__always) static func cell(of color: PackedColor) -> Int {
        (color.red >> 3) << 10 | (color.green >> 3) << 5 | color.blue >> 3
    }

    /// Adds the visible pixels of an image.
    mutating func add(pixels: [PackedColor]) {
        if cells.isEmpty { cells = [Cell](repeating: Cell(), count: Self.cellsMax) }
        if isExact { for pixel in pixels where pixel != 0 && isExact { addExactly(pixel) } }
        unsafe cells.withUnsafeMutableBufferPointer { cells in
            for pixel in pixels where pixel != 0 {
                // A cell's number has as many bits as there are cells.
                let index = Self.cell(of: pixel)
                unsafe cells[index].count &+= 1
                unsafe cells[index].red &+= pixel.red
                unsafe cells[index].green &+= pixel.green
                unsafe cells[index].blue &+= pixel.blue
            }
        }
    }

    private mutating func addExactly(_ color: PackedColor) {
        var slot = Int((color &* 0x9E37_79B1) >> 22)
        while table[slot] != 0 {
            if table[slot] == color { return }
            slot = (slot + 1) & 1023
        }
        if colors.count == Self.exactMax { return isExact = false }
        table[slot] = color
        colors.append(color)
    }
}

/// The palette of a frame, or of all frames.
struct GIFPalette: Sendable, Hashable {
    /// Colors, and 0 at the transparent index.
    let colors: [PackedColor]
    let transparent: UInt8?
    /// Whether it contains every color of the pixels it was made for.
    let isExact: Bool

    /// - Parameter hasTransparency: Whether one index is reserved for transparency.
    init(_ opaque: [PackedColor], hasTransparency: Bool, isExact: Bool = false) {
        self.isExact = isExact
        precondition(opaque.count + (hasTransparency ? 1 : 0) <= 256, "a palette has 256 entries")
        colors = opaque + (hasTransparency || opaque.isEmpty ? [0] : [])
        transparent = hasTransparency || opaque.isEmpty ? UInt8(opaque.count) : nil
    }

    /// Bits of an index for a table of GIF's sizes; `rootBits`, for LZW, is at least 2.
    var tableBits: Int { max(1, Int.bitWidth - (colors.count - 1).leadingZeroBitCount) }
    var rootBits: Int { max(2, tableBits) }

    /// The bytes of the color table.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<1 << tableBits {
            let color = index < colors.count ? colors[index] : 0
            bytes += [UInt8(color.red), UInt8(color.green), UInt8(color.blue)]
        }
        return bytes
    }

    /// For every index, 256 flags: whether a pixel for which it is the best may get the other index. The transparent
    /// index, when it is the best, may be replaced by any.
    func near(within tolerance: Int) -> UnsafeArray<Bool> {
        // The pixel's color may lie between the two.
        let reach = Int32(tolerance * 4)
        let near = UnsafeArray(repeating: false, count: 1 << 16)
        for index in tolerance > 0 ? colors.indices : 0..<0 where colors[index] != 0 {
            let color = colors[index]
            for other in 0..<index where colors[other] != 0 && color.distance(to: colors[other]) <= reach {
                near[index << 8 | other] = true
                near[other << 8 | index] = true
            }
        }
        // A pixel that is best left unchanged may have any color.
        if let transparent {
            for other in colors.indices { near[Int(transparent) << 8 | other] = true }
        }
        return near
    }

    /// The nearest indexes of each one, to limit the search.
    func neighbors(_ near: UnsafeArray<Bool>) -> [[UInt8]] {
        colors.indices.map { index in
            guard index != transparent.map(Int.init) else { return [] }
            return colors.indices.filter { near[index << 8 | $0] }
                .map { (index: $0, distance: colors[$0].distance(to: colors[index])) }
                .sorted { $0.distance > $1.distance }
                .suffix(Self.neighborsMax).map { UInt8($0.index) }
        }
    }

    private static let neighborsMax = 24
}

/// A pixel of the GIF encoder: red in the lowest byte, then green, blue and 255; 0 is transparent.
typealias PackedColor = UInt32

extension PackedColor {
    /// The factor between a weighted distance and the square of a difference that all three components share.
    static let distanceScale = 7

    init(red: Int, green: Int, blue: Int) {
        self = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000
    }

    @inline(__always) var red: Int { Int(self & 0xFF) }
    @inline(__always) var green: Int { Int(self >> 8 & 0xFF) }
    @inline(__always) var blue: Int { Int(self >> 16 & 0xFF) }

    /// Sum of squared differences, weighted roughly by the eye's sensitivity to each component.
    @inline(__always) func distance(to other: PackedColor) -> Int32 {
        // Cannot overflow; overflow checks would double the time of encoding a GIF.
        let red = Int32(truncatingIfNeeded: self & 0xFF) &- Int32(truncatingIfNeeded: other & 0xFF)
        let green = Int32(truncatingIfNeeded: self >> 8 & 0xFF) &- Int32(truncatingIfNeeded: other >> 8 & 0xFF)
        let blue = Int32(truncatingIfNeeded: self >> 16 & 0xFF) &- Int32(truncatingIfNeeded: other >> 16 & 0xFF)
        return 2 &* red &* red &+ 4 &* green &* green &+ blue &* blue
    }

    /// Converts RGBA bytes; GIF has no partial transparency, so alpha below 128 becomes transparent.
    static func pixels(of bytes: [UInt8]) -> [PackedColor] {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe [PackedColor](unsafeUninitializedCapacity: buffer.count / 4) { pixels, count in
                for index in 0..<buffer.count / 4 {
                    let raw = unsafe buffer.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
                    let color = UInt32(littleEndian: raw)
                    unsafe pixels.initializeElement(at: index, to: color >> 24 < 128 ? 0 : color | 0xFF00_0000)
                }
                count = buffer.count / 4
            }
        }
    }
}
