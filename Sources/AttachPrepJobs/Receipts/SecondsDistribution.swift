import SafeArithmetic

/// How long things took: so many, and the time that a share of them was not over.
///
/// Percentiles are a bucket's middle, within 1% of what was measured, or half a millisecond; the longest is exact.
public struct SecondsDistribution: Codable, Sendable, Hashable {
    public var count: Int
    public var p50: Double
    public var p90: Double
    public var p95: Double
    public var p99: Double
    public var max: Double

    /// Nil when nothing was measured.
    ///
    /// - Parameters:
    ///   - buckets: rising, each with how many fell into it.
    ///   - longest: milliseconds.
    init?(_ buckets: [(bucket: MillisecondBucket, count: Int)], longest: Int64) {
        let total = buckets.reduce(0) { $0.adding(clamping: Swift.max(0, $1.count)) }
        guard total > 0 else { return nil }
        let percentile = { (share: Double) in
            // The nearest rank: the first value that so many are not over.
            let rank = Swift.max(1, Int(clamping: (share * Double(total)).rounded(.up)))
            var seen = 0
            let found = buckets.first { row in
                seen = seen.adding(clamping: Swift.max(0, row.count))
                return seen >= rank
            }
            let milliseconds = found?.bucket.middle ?? Double(longest)
            return Swift.min(milliseconds, Double(longest)) / 1000
        }
        count = total
        p50 = percentile(0.5)
        p90 = percentile(0.9)
        p95 = percentile(0.95)
        p99 = percentile(0.99)
        max = Double(longest) / 1000
    }
}
