import SafeArithmetic

/// How many values fell below each bound, and their sum.
struct PrometheusHistogram: Sendable, Hashable {
    /// Rising; all of them is what `count` counts.
    let bounds: [Double]
    /// Values in each bucket alone.
    private var counts: [Int]
    private(set) var count = 0
    private(set) var sum = 0.0

    init(_ bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
    }

    /// What is no number is not recorded: it would spoil the sum for ever.
    mutating func record(_ value: Double) {
        guard value.isFinite else { return }
        count += 1
        // Bounded: floating point, which does not trap.
        sum += value
        if let index = bounds.firstIndex(where: { value <= $0 }) { counts[index] += 1 }
    }

    /// Values up to each bound, as they are written.
    var cumulative: [Int] {
        var total = 0
        return counts.map { count in
            total = total.adding(clamping: count)
            return total
        }
    }
}
