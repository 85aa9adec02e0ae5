import Foundation

/// Scores how well a frame represents a movie: high for contrast, sharpness and color; low for black, white, flat or
/// faded frames.
package struct FrameScore: Sendable, Hashable {
    /// A score that is good enough to end the search.
    package static let good = 0.5

    /// From 0 (black or blank) to about 1.
    package let value: Double

    /// - Parameter pixels: sRGB, 8 bits, `bands` (3 or 4) a pixel, of a small image.
    package init(pixels: [UInt8], width: Int, height: Int, bands: Int) {
        let statistics = Statistics(pixels: pixels, count: width * height, bands: bands)
        let spread = Double(statistics.percentile(0.97) - statistics.percentile(0.03)) / 255
        let sharpness = Self.sharpness(statistics.luma, width: width, height: height)
        // A fade is a frame with low contrast; below a quarter of the range hardly anything is visible.
        let contrast = Self.ramp(spread, from: 0.08, to: 0.55)
        let detail = Self.ramp(log(1 + sharpness), from: log(1 + 8), to: log(1 + 900))
        let exposure =
            Self.ramp(statistics.mean, from: 0.03, to: 0.18) * Self.ramp(1 - statistics.mean, from: 0.03, to: 0.15)
        let variety = Self.ramp(statistics.entropy, from: 2, to: 6.5)
        let color = Self.ramp(statistics.colorfulness, from: 0, to: 0.25)
        value = contrast * exposure * (0.25 + 0.75 * detail) * (0.4 + 0.6 * variety) * (0.75 + 0.25 * color)
    }

    private static func ramp(_ value: Double, from low: Double, to high: Double) -> Double {
        min(1, max(0, (value - low) / (high - low)))
    }

    /// Variance of the Laplacian, which blur reduces first.
    private static func sharpness(_ luma: [UInt8], width: Int, height: Int) -> Double {
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

    /// An image's histogram and colors.
    private struct Statistics {
        let luma: [UInt8]
        private let histogram: [Int]
        /// From 0 to 1.
        let mean: Double
        /// Mean difference between the largest and the smallest of red, green and blue, from 0 to 1.
        let colorfulness: Double

        init(pixels: [UInt8], count: Int, bands: Int) {
            var luma = [UInt8](repeating: 0, count: count)
            var histogram = [Int](repeating: 0, count: 256)
            var (sum, color) = (0, 0)
            for index in 0..<count {
                let offset = index * bands
                let (red, green, blue) = (Int(pixels[offset]), Int(pixels[offset + 1]), Int(pixels[offset + 2]))
                let value = (red * 77 + green * 150 + blue * 29) >> 8
                luma[index] = UInt8(value)
                histogram[value] += 1
                sum += value
                color += max(red, green, blue) - min(red, green, blue)
            }
            self.luma = luma
            self.histogram = histogram
            mean = Double(sum) / Double(max(1, count)) / 255
            colorfulness = Double(color) / Double(max(1, count)) / 255
        }

        /// The luma below which that share of the pixels lies.
        func percentile(_ share: Double) -> Int {
            var left = Int(share * Double(luma.count))
            for (value, count) in histogram.enumerated() {
                left -= count
                if left < 0 { return value }
            }
            return 255
        }

        /// Entropy of the histogram in bits per pixel, up to 8.
        var entropy: Double {
            histogram.filter { $0 > 0 }.reduce(0.0) { total, count in
                let share = Double(count) / Double(luma.count)
                return total - share * log2(share)
            }
        }
    }
}
