import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Finds the most salient part of an image, as large as possible in given proportions.
struct SmartCrop {
    /// The longer side of the copy that is analyzed; faces in a group photo are a dozen pixels on it.
    private static let analysisSide = 192

    private let width: Int
    private let height: Int
    private let draw: () throws -> SaliencyMap
    /// Made for the first part that can slide, and used for all.
    private var map: SaliencyMap?

    /// - Parameter image: In sRGB, in memory.
    init(_ image: Image) {
        (width, height) = (image.width, image.height)
        draw = { try Self.map(of: image) }
    }

    init(_ image: HalvedChromaImage) {
        (width, height) = (image.width, image.height)
        draw = {
            let scale = min(1, Double(Self.analysisSide) / Double(max(image.width, image.height)))
            let small = image.reduced(
                width: max(1, Int(clamping: (Double(image.width) * scale).rounded())),
                height: max(1, Int(clamping: (Double(image.height) * scale).rounded())))
            return try Self.map(of: small.image())
        }
    }

    /// As `rect`, in pixels.
    mutating func area(ratio: AspectRatio) throws -> PixelRect {
        let window = CropWindow(width: width, height: height, ratio: ratio)
        let rect = try rect(ratio: ratio)
        let left = Int(clamping: (rect.x * Double(width)).rounded())
        let top = Int(clamping: (rect.y * Double(height)).rounded())
        return PixelRect(
            left: min(left, width - window.windowWidth), top: min(top, height - window.windowHeight),
            width: window.windowWidth, height: window.windowHeight)
    }

    /// Deterministic; the whole image when it already has the requested proportions.
    mutating func rect(ratio: AspectRatio) throws -> ClippingRect {
        let window = CropWindow(width: width, height: height, ratio: ratio)
        guard window.slack > 0 else { return try window.rect(at: 0) }
        let map = try self.map ?? draw()
        self.map = map
        return try window.rect(at: window.best(in: map))
    }

    private static func map(of image: Image) throws -> SaliencyMap {
        let small = try image.limited(toLongSide: analysisSide).flattened(onGray: 128).inMemory()
        let pixels = try small.withPixels { span in (0..<span.byteCount).map { span.byte($0) } }
        return SaliencyMap(pixels: pixels, width: small.width, height: small.height, bands: small.bands)
    }
}

/// The largest window of given proportions in an image: it fills one side, and can slide along the other.
struct CropWindow: Sendable, Hashable {
    /// Pixels of the image.
    let width: Int
    let height: Int
    /// Pixels of the window.
    let windowWidth: Int
    let windowHeight: Int

    init(width: Int, height: Int, ratio: AspectRatio) {
        self.width = width
        self.height = height
        let (across, down) = (Double(max(1, ratio.width)), Double(max(1, ratio.height)))
        windowWidth = min(width, max(1, Int(clamping: (Double(height) * across / down).rounded())))
        windowHeight = min(height, max(1, Int(clamping: (Double(width) * down / across).rounded())))
    }

    /// Pixels it can slide; 0 when it covers the image.
    var slack: Int { max(width - windowWidth, height - windowHeight) }

    private var slidesAcross: Bool { width - windowWidth > height - windowHeight }

    /// The window at an offset in pixels, in unit coordinates.
    func rect(at offset: Int) throws -> ClippingRect {
        let left = slidesAcross ? min(offset, width - windowWidth) : (width - windowWidth) / 2
        let top = slidesAcross ? (height - windowHeight) / 2 : min(offset, height - windowHeight)
        return try ClippingRect(
            x: Double(left) / Double(width), y: Double(top) / Double(height),
            width: Double(windowWidth) / Double(width), height: Double(windowHeight) / Double(height))
    }

    /// The offset with the most saliency inside the window and away from its edges.
    func best(in map: SaliencyMap) -> Int {
        let line = slidesAcross ? map.columns : map.rows
        let total = slidesAcross ? width : height
        let length = slidesAcross ? windowWidth : windowHeight
        let share = Double(length) / Double(total)
        let span = max(1, Int(clamping: (share * Double(line.count)).rounded()))
        guard span < line.count else { return 0 }
        let scores = (0...(line.count - span)).map { Self.score(line, from: $0, count: span) }
        let most = scores.max() ?? 0
        // Of several equally good offsets, the one nearest to the middle.
        let middle = Double(scores.count - 1) / 2
        let best =
            scores.indices.filter { scores[$0] >= most - 1e-9 }
            .min { abs(Double($0) - middle) < abs(Double($1) - middle) } ?? 0
        return Int(clamping: (Double(best) / Double(max(1, scores.count - 1)) * Double(slack)).rounded())
    }

    /// Sums the saliency inside, with less weight near the ends, where subjects would look cut off.
    private static func score(_ line: [Double], from start: Int, count: Int) -> Double {
        var sum = 0.0
        for index in 0..<count {
            let margin = Double(min(index, count - 1 - index)) + 0.5
            sum += line[start + index] * (0.4 + 0.6 * min(1, margin / (Double(count) * edgeShare)))
        }
        return sum
    }

    /// The share of a window at either end where the weight decreases.
    private static let edgeShare = 0.2
}

/// The saliency of each pixel: edges, rare colors, skin, and above all their combination.
struct SaliencyMap: Sendable {
    let width: Int
    let height: Int
    /// One value a pixel, at least 0; the sum of all is 1.
    let values: [Double]

    /// - Parameter pixels: sRGB, 8 bits, `bands` (1 or 3) a pixel, rows without padding.
    init(pixels: [UInt8], width: Int, height: Int, bands: Int) {
        self.width = width
        self.height = height
        let colors = SaliencyFeatures(pixels: pixels, count: width * height, bands: bands)
        let edges = Self.normalized(
            Self.blurred(Self.edges(colors.luma, width: width, height: height), width: width, height: height))
        let rarity = Self.normalized(Self.blurred(colors.rarity, width: width, height: height))
        let skin = Self.blurred(colors.skin, width: width, height: height)
        var values = [Double](repeating: 0, count: width * height)
        for index in values.indices {
            let (column, row) = (index % width, index / width)
            let value =
                edges[index] * 0.5 + rarity[index] * 0.8 + skin[index] * 0.9
                + edges[index] * rarity[index] * 0.8
            values[index] = value * value * Self.center(column: column, row: row, width: width, height: height)
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

    /// Weights the center a little more, and in portrait images the part above it, where heads are.
    private static func center(column: Int, row: Int, width: Int, height: Int) -> Double {
        let offsetX = (Double(column) + 0.5) / Double(width) - 0.5
        let offsetY = (Double(row) + 0.5) / Double(height) - (height > width ? 0.3 : 0.45)
        let middle = 1 - 0.75 * min(1, (offsetX * offsetX + offsetY * offsetY) * 2)
        // In portrait images of people the head is in the upper half.
        return height > width && offsetY > 0.15 ? middle * (1.15 - offsetY) * 0.6 : middle
    }

    /// The gradient of a pixel's luma.
    private static func edges(_ luma: [Double], width: Int, height: Int) -> [Double] {
        var found = [Double](repeating: 0, count: luma.count)
        guard width > 2, height > 2 else { return found }
        for row in 1..<(height - 1) {
            for column in 1..<(width - 1) {
                let index = row * width + column
                let gradientX = luma[index + 1] - luma[index - 1]
                let gradientY = luma[index + width] - luma[index - width]
                found[index] = (gradientX * gradientX + gradientY * gradientY).squareRoot()
            }
        }
        return found
    }

    /// Scales so that the 99th percentile is 1, to ignore single outliers.
    private static func normalized(_ values: [Double]) -> [Double] {
        let sorted = values.sorted()
        guard let last = sorted.last, last > 1e-6 else { return values }
        let strong = max(sorted[min(sorted.count - 1, sorted.count * 99 / 100)], last / 8)
        return values.map { min(1, $0 / strong) }
    }

    /// A box blur in both directions, twice: about a Gaussian of 1/40 of the image.
    private static func blurred(_ values: [Double], width: Int, height: Int) -> [Double] {
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

/// Luma, color rarity and skin likelihood of each pixel of a small image.
struct SaliencyFeatures: Sendable {
    /// From 0 to 1.
    let luma: [Double]
    /// The distance of a color from the image's common ones; about 0 to 1.
    let rarity: [Double]
    /// How much it looks like skin, from 0 to 1.
    let skin: [Double]

    /// - Parameter pixels: sRGB, 8 bits, `bands` (1 or 3) a pixel.
    init(pixels: [UInt8], count: Int, bands: Int) {
        var luma = [Double](repeating: 0, count: count)
        var blue = luma
        var red = luma
        var skin = luma
        for index in 0..<count {
            let offset = index * bands
            let r = Double(pixels[offset]) / 255
            let g = Double(pixels[offset + (bands > 2 ? 1 : 0)]) / 255
            let b = Double(pixels[offset + (bands > 2 ? 2 : 0)]) / 255
            luma[index] = 0.299 * r + 0.587 * g + 0.114 * b
            blue[index] = b - luma[index]
            red[index] = r - luma[index]
            skin[index] = Self.skin(r: r, g: g, b: b, luma: luma[index])
        }
        self.luma = luma
        self.skin = skin
        rarity = Self.rarity(luma, blue: blue, red: red)
    }

    /// The rarity of a pixel's color: its mean distance from the image's colors in coarse steps.
    private static func rarity(_ luma: [Double], blue: [Double], red: [Double]) -> [Double] {
        func bin(_ index: Int) -> Int {
            let (l, b, r) = (Int(luma[index] * 7.99), Int((blue[index] + 1) * 7.99), Int((red[index] + 1) * 7.99))
            return (l * 16 + b) * 16 + r
        }
        var sums: [Int: (count: Double, luma: Double, blue: Double, red: Double)] = [:]
        for index in luma.indices {
            let key = bin(index)
            let sum = sums[key] ?? (0, 0, 0, 0)
            sums[key] = (sum.count + 1, sum.luma + luma[index], sum.blue + blue[index], sum.red + red[index])
        }
        // In a fixed order, because floating-point sums depend on it.
        let means = sums.sorted { $0.key < $1.key }.map { _, sum in
            (
                share: sum.count / Double(luma.count), luma: sum.luma / sum.count, blue: sum.blue / sum.count,
                red: sum.red / sum.count
            )
        }
        let keys = sums.keys.sorted()
        var distances: [Int: Double] = [:]
        for (key, mean) in zip(keys, means) {
            distances[key] = means.reduce(0) { total, other in
                let (l, b, r) = ((mean.luma - other.luma) * 0.6, mean.blue - other.blue, mean.red - other.red)
                return total + other.share * (l * l + b * b + r * r).squareRoot()
            }
        }
        return luma.indices.map { distances[bin($0)] ?? 0 }
    }

    /// The likelihood of skin: near the usual skin directions in the color cube, at any luma except dark ones.
    private static func skin(r: Double, g: Double, b: Double, luma: Double) -> Double {
        let length = (r * r + g * g + b * b).squareRoot()
        guard length > 0.25, luma > 0.12, r > g, g > b * 0.9 else { return 0 }
        let (x, y, z) = (r / length - 0.735, g / length - 0.54, b / length - 0.415)
        let distance = (x * x + y * y + z * z).squareRoot()
        return max(0, 1 - distance / 0.17)
    }
}
