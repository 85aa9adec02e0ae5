import Foundation

/// How well a picture stands for a movie, by its pixels alone: light and dark, sharp, colourful; not black, white,
/// flat, or half faded.
package struct FrameScore: Sendable, Hashable {
    /// From this on, nothing better has to be looked for.
    package static let good = 0.5

    /// From 0, black or blank, to about 1.
    package let value: Double

    /// - Parameter pixels: sRGB, 8 bits, `bands` (3 or 4) a pixel, of a small picture.
    // Bounded throughout: as many pixels as are in the array; the rest is floating point.
    package init(pixels: [UInt8], width: Int, height: Int, bands: Int) {
        let look = Look(pixels: pixels, count: width * height, bands: bands)
        let spread = Double(look.percentile(0.97) - look.percentile(0.03)) / 255
        let sharpness = Self.sharpness(look.luma, width, height)
        // A fade is a whole picture of little contrast; below a quarter of the range it is hardly a picture.
        let contrast = Self.ramp(spread, from: 0.08, to: 0.55)
        let detail = Self.ramp(log(1 + sharpness), from: log(1 + 8), to: log(1 + 900))
        let exposure = Self.ramp(look.mean, from: 0.03, to: 0.18) * Self.ramp(1 - look.mean, from: 0.03, to: 0.15)
        let variety = Self.ramp(look.entropy, from: 2, to: 6.5)
        let colour = Self.ramp(look.colourfulness, from: 0, to: 0.25)
        value = contrast * exposure * (0.25 + 0.75 * detail) * (0.4 + 0.6 * variety) * (0.75 + 0.25 * colour)
    }

    // Bounded throughout: floating point.
    private static func ramp(_ value: Double, from low: Double, to high: Double) -> Double {
        min(1, max(0, (value - low) / (high - low)))
    }

    /// Variance of the Laplacian: what a blur takes away first.
    // Bounded throughout: places in an array of `width` x `height` values of 8 bits; sums are floating point.
    private static func sharpness(_ luma: [UInt8], _ width: Int, _ height: Int) -> Double {
        guard width > 2, height > 2 else { return 0 }
        var (sum, squares, count) = (0.0, 0.0, 0.0)
        for row in 1..<(height - 1) {
            for column in 1..<(width - 1) {
                let index = row * width + column
                let around = Int(luma[index - 1]) + Int(luma[index + 1]) + Int(luma[index - width])
                let value = Double(around + Int(luma[index + width]) - 4 * Int(luma[index]))
                sum += value
                squares += value * value
                count += 1
            }
        }
        return squares / count - (sum / count) * (sum / count)
    }

    /// A picture's histogram and colours.
    // Bounded throughout: `count` pixels of 8 bits a component are in the array, and shares are from 0 to 1.
    private struct Look {
        let luma: [UInt8]
        private let histogram: [Int]
        /// From 0 to 1.
        let mean: Double
        /// Mean distance of red, green and blue from one another, from 0 to 1.
        let colourfulness: Double

        init(pixels: [UInt8], count: Int, bands: Int) {
            var luma = [UInt8](repeating: 0, count: count)
            var histogram = [Int](repeating: 0, count: 256)
            var (sum, colour) = (0, 0)
            for index in 0..<count {
                let offset = index * bands
                let (red, green, blue) = (Int(pixels[offset]), Int(pixels[offset + 1]), Int(pixels[offset + 2]))
                let value = (red * 77 + green * 150 + blue * 29) >> 8
                luma[index] = UInt8(value)
                histogram[value] += 1
                sum += value
                colour += max(red, green, blue) - min(red, green, blue)
            }
            self.luma = luma
            self.histogram = histogram
            mean = Double(sum) / Double(max(1, count)) / 255
            colourfulness = Double(colour) / Double(max(1, count)) / 255
        }

        /// The lightness below which that share of the pixels lies.
        func percentile(_ share: Double) -> Int {
            var left = Int(share * Double(luma.count))
            for (value, count) in histogram.enumerated() {
                left -= count
                if left < 0 { return value }
            }
            return 255
        }

        /// Bits a pixel of the histogram, up to 8.
        var entropy: Double {
            histogram.filter { $0 > 0 }.reduce(0.0) { total, count in
                let share = Double(count) / Double(luma.count)
                return total - share * log2(share)
            }
        }
    }
}
