import AttachPrepJobs
import Foundation
import Testing

struct LatencyHistogramTests {
    private func counts(_ buckets: [Int: Int]) -> LatencyHistogram {
        buckets.reduce(into: LatencyHistogram()) { $0.add($1.value, inBucket: $1.key) }
    }

    @Test func `Buckets range from 5 ms to over 4 hours, each 1.6 times as long as the one before`() {
        let bounds = LatencyHistogram.boundsMilliseconds
        #expect(bounds.first == 5 && (bounds.last ?? 0) > 4 * 3_600_000 && bounds.count == 33)
        for (lower, upper) in zip(bounds.dropFirst(3), bounds.dropFirst(4)) {
            #expect((1.55...1.65).contains(Double(upper) / Double(lower)))
        }
        #expect(LatencyHistogram().counts.count == bounds.count + 1)
    }

    @Test func `An empty histogram has no percentiles`() {
        #expect(LatencyHistogram().percentile(0.5) == nil)
    }

    @Test(arguments: [
        // Linear in the first bucket, which starts at zero.
        ([0: 10], 0.5, 0.0025), ([0: 10], 1, 0.005), ([0: 1], 0.1, 0.0005),
        // Geometric in the others: halfway from 5 to 8 ms is the square root of 40.
        ([1: 10], 0.5, 0.006_325), ([1: 4], 1, 0.008),
        // The boundary of two buckets is exact.
        ([0: 5, 1: 5], 0.5, 0.005), ([0: 5, 20: 5], 0.5, 0.005),
        // Empty buckets in between do not count.
        ([0: 50, 12: 50], 0.95, 1.343), ([12: 99, 20: 1], 0.5, 1.115),
        // Durations over the last bound count as the last bound.
        ([33: 3], 0.5, 17_014.118), ([0: 99, 33: 1], 1, 17_014.118),
    ])
    func `Percentiles are interpolated within their bucket`(buckets: [Int: Int], share: Double, seconds: Double) throws
    {
        let found = try #require(counts(buckets).percentile(share))
        #expect(abs(found - seconds) <= 0.001 * seconds, "\(found)")
    }

    @Test func `Adding histograms adds their counts`() {
        var sum = counts([0: 1, 7: 2])
        sum.add(counts([7: 3, 33: 1]))
        #expect(sum == counts([0: 1, 7: 5, 33: 1]))
    }

    @Test(arguments: [0.5, 0.95])
    func `A percentile of many durations is within 5 % of the exact one`(share: Double) throws {
        // From 20 ms to 20 s in geometric steps.
        let durations = (0..<10_000).map { 20 * Foundation.pow(1000, Double($0) / 10_000) }
        var latencies = LatencyHistogram()
        for duration in durations {
            latencies.add(1, inBucket: LatencyHistogram.boundsMilliseconds.count { Double($0) <= duration })
        }
        let exact = durations[Int(share * 10_000)] / 1000
        #expect(abs(try #require(latencies.percentile(share)) - exact) < exact * 0.05)
    }
}
