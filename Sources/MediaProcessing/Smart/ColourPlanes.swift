/// Lightness, strangeness and skin of each pixel of a small picture.
struct ColourPlanes: Sendable {
    /// From 0 to 1.
    let luma: [Double]
    /// How far a colour is from the picture's usual ones; about 0 to 1.
    let strangeness: [Double]
    /// How much it looks like skin, from 0 to 1.
    let skin: [Double]

    /// - Parameter pixels: sRGB, 8 bits, `bands` (1 or 3) a pixel.
    // Bounded throughout: `count` pixels are in the array.
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
            skin[index] = Self.skin(r, g, b, luma: luma[index])
        }
        self.luma = luma
        self.skin = skin
        strangeness = Self.strangeness(luma, blue, red)
    }

    /// Rare colours are strange: how far a pixel is, on average, from the picture's colours in coarse steps.
    // Bounded throughout: components are from -1 to 1, so that steps have four bits; the rest is floating point.
    private static func strangeness(_ luma: [Double], _ blue: [Double], _ red: [Double]) -> [Double] {
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
        // In a fixed order: sums of fractions depend on it.
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

    /// Near the usual directions of skin in the colour cube, whatever its lightness; not where it is dark.
    // Bounded throughout: floating point.
    private static func skin(_ r: Double, _ g: Double, _ b: Double, luma: Double) -> Double {
        let length = (r * r + g * g + b * b).squareRoot()
        guard length > 0.25, luma > 0.12, r > g, g > b * 0.9 else { return 0 }
        let (x, y, z) = (r / length - 0.735, g / length - 0.54, b / length - 0.415)
        let distance = (x * x + y * y + z * z).squareRoot()
        return max(0, 1 - distance / 0.17)
    }
}
