import AttachPrepJobs
import Foundation
import Testing

struct LatencyCountsTests {
    private func counts(_ spans: [Int: Int]) -> LatencyHistogram {
        spans.reduce(into: LatencyHistogram()) { $0.add($1.value, inBucket: $1.key) }
    }

    @Test func `spans reach from milliseconds to hours, each 1.6 times the one before`() {
        let bounds = LatencyHistogram.boundsMilliseconds
        #expect(bounds.first == 5 && (bounds.last ?? 0) > 4 * 3_600_000 && bounds.count == 33)
        for (lower, upper) in zip(bounds.dropFirst(3), bounds.dropFirst(4)) {
            #expect((1.55...1.65).contains(Double(upper) / Double(lower)))
        }
        #expect(LatencyHistogram().counts.count == bounds.count + 1)
    }

    @Test func `of nothing there is no percentile`() {
        #expect(LatencyHistogram().percentile(0.5) == nil)
    }

    @Test(arguments: [
        // In the first span by equal steps, as it begins at zero.
        ([0: 10], 0.5, 0.0025), ([0: 10], 1, 0.005), ([0: 1], 0.1, 0.0005),
        // In others by factors: half the way from 5 to 8 ms is the root of 40.
        ([1: 10], 0.5, 0.006_325), ([1: 4], 1, 0.008),
        // At the border of two spans it is the border.
        ([0: 5, 1: 5], 0.5, 0.005), ([0: 5, 20: 5], 0.5, 0.005),
        // Empty spans between do not count.
        ([0: 50, 12: 50], 0.95, 1.343), ([12: 99, 20: 1], 0.5, 1.115),
        // What is behind the last bound counts as it.
        ([33: 3], 0.5, 17_014.118), ([0: 99, 33: 1], 1, 17_014.118),
    ])
    func `percentiles lie in their span`(spans: [Int: Int], share: Double, seconds: Double) throws {
        let found = try #require(counts(spans).percentile(share))
        #expect(abs(found - seconds) <= 0.001 * seconds, "\(found)")
    }

    @Test func `sums are of all that was added`() {
        var sum = counts([0: 1, 7: 2])
        sum.add(counts([7: 3, 33: 1]))
        #expect(sum == counts([0: 1, 7: 5, 33: 1]))
    }

    @Test(arguments: [0.5, 0.95])
    func `a percentile of many durations is within some percent of theirs`(share: Double) throws {
        // From 20 ms to 20 s, evenly by factors.
        let durations = (0..<10_000).map { 20 * Foundation.pow(1000, Double($0) / 10_000) }
        var latencies = LatencyHistogram()
        for duration in durations {
            latencies.add(1, inBucket: LatencyHistogram.boundsMilliseconds.count { Double($0) <= duration })
        }
        let exact = durations[Int(share * 10_000)] / 1000
        #expect(abs(try #require(latencies.percentile(share)) - exact) < exact * 0.05)
    }
}
