import Foundation
import Testing

@testable import AttachPrepJobs

@Suite struct SecondsDistributionTests {
    @Test func `Buckets are contiguous and in ascending order`() {
        var last = MillisecondBucket(0).index
        #expect(last == 0)
        for milliseconds in Int64(1)...200_000 {
            let index = MillisecondBucket(milliseconds).index
            #expect(index == last || index == last + 1)
            last = index
        }
    }

    @Test func `A bucket's middle is within 1 % of each of its durations`() {
        for exponent in 0..<34 {
            for step in 0..<100 {
                let milliseconds = Int64(1) << exponent + Int64(step) * (Int64(1) << exponent) / 100
                let middle = MillisecondBucket(milliseconds).middle
                let tolerance = max(0.5, Double(milliseconds) / 100)
                #expect(abs(middle - Double(milliseconds)) <= tolerance, "\(milliseconds): \(middle)")
            }
        }
    }

    @Test func `Durations below 128 ms are exact`() {
        for milliseconds in Int64(0)..<128 {
            #expect(MillisecondBucket(milliseconds).middle == Double(milliseconds))
        }
    }

    @Test func `Durations out of range fall into the first or last bucket`() {
        #expect(MillisecondBucket(-5).index == 0)
        #expect(MillisecondBucket(.max).index < 4_000)
    }

    private func distribution(_ milliseconds: [Int64]) throws -> SecondsDistribution {
        let counts = Dictionary(grouping: milliseconds) { MillisecondBucket($0).index }
        return try #require(
            SecondsDistribution(
                counts.sorted { $0.key < $1.key }.map { (MillisecondBucket(index: $0.key), $0.value.count) },
                longest: milliseconds.max() ?? 0))
    }

    @Test func `A single duration is every percentile`() throws {
        let one = try distribution([87_654])
        #expect(one.count == 1 && one.max == 87.654)
        #expect([one.p50, one.p90, one.p95, one.p99].allSatisfy { abs($0 - 87.654) <= 0.88 && $0 <= one.max })
    }

    @Test func `Percentiles are nearest ranks`() throws {
        let ten = try distribution((1...10).map { Int64($0 * 10) })
        #expect(ten.p50 == 0.05 && ten.p90 == 0.09 && ten.p95 == 0.1 && ten.p99 == 0.1 && ten.max == 0.1)
        let skewed = try distribution([Int64](repeating: 20, count: 99) + [100])
        #expect(skewed.p99 == 0.02 && skewed.max == 0.1)
    }

    @Test func `An empty list of durations has no distribution`() {
        #expect(SecondsDistribution([], longest: 0) == nil)
    }
}
