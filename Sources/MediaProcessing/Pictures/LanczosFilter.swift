import Glibc

/// The weights by which samples in a line make fewer samples: Lanczos' kernel of three lobes, stretched over all
/// samples that a new one stands for, so that nothing is left out and nothing aliases. Pure.
///
/// Source: C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", 1979; libvips' and swscale's default as well.
struct LanczosFilter: Sendable {
    /// Lobes on either side of the middle.
    private static let lobes = 3.0

    /// The first sample that each new one is made of.
    let first: [Int]
    /// Weights of a new sample; fewer than this many of them may lie inside the line, never more.
    let taps: Int
    /// `taps` for each new sample, which sum up to 1.
    let weights: [Float]

    /// - Parameters:
    ///   - count: Samples there are.
    ///   - target: Samples wanted; more than there are is no business of this filter, but it interpolates.
    ///   - span: What the samples stand for when the last one is not whole, in samples; all by default.
    init(from count: Int, to target: Int, span: Double? = nil) {
        let step = (span ?? Double(count)) / Double(target)
        let stretch = max(1, step)
        let reach = Self.lobes * stretch
        let taps = min(count, Int((2 * reach).rounded(.up)) + 1)
        var first: [Int] = []
        var weights: [Float] = []
        for index in 0..<target {
            let middle = (Double(index) + 0.5) * step - 0.5
            // What would hang over the ends is left out, and the rest weighs so much more.
            let start = max(0, min(count - taps, Int((middle - reach).rounded(.up))))
            let row = (0..<taps).map { Self.kernel((Double(start + $0) - middle) / stretch) }
            let sum = row.reduce(0, +)
            first.append(start)
            weights += row.map { Float($0 / sum) }
        }
        (self.first, self.taps, self.weights) = (first, taps, weights)
    }

    private static func kernel(_ x: Double) -> Double {
        guard abs(x) < lobes else { return 0 }
        guard abs(x) > 1e-9 else { return 1 }
        let angle = Double.pi * x
        return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
    }
}
