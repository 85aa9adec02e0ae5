public import FoundationEssentials
internal import Glibc
internal import SafeArithmetic

/// How many jobs ended in each minute of an hour, and their latencies.
public struct JobPace: Sendable, Hashable {
    /// A minute of an hour, or an hour of a week.
    public struct Interval: Sendable, Hashable {
        public var succeeded = 0
        /// Failed and dead jobs.
        public var failed = 0
        /// From when a job was submitted, or from its `notBefore` when that is later, to its end.
        public var latencies = LatencyHistogram()

        public init() {}
    }

    public static let minutesCount = 60
    /// Hours of a week, in a history.
    public static let hoursCount = 7 * 24

    /// End of the hour, exclusive.
    public var until: Date
    /// Earliest first; always 60.
    public var minutes: [Interval]

    public init(until: Date, minutes: [Interval] = Array(repeating: Interval(), count: minutesCount)) {
        precondition(minutes.count == Self.minutesCount, "an hour has sixty minutes")
        self.until = until
        self.minutes = minutes
    }

    /// Latencies of the whole hour.
    public var latencies: LatencyHistogram { minutes.reduce(into: LatencyHistogram()) { $0.add($1.latencies) } }
}

/// Histogram of durations in buckets that each are 1.6 times as long as the one before.
///
/// Precise enough for percentiles, and few enough buckets for a database to count them.
public struct LatencyHistogram: Sendable, Hashable {
    /// Upper bounds of the buckets in milliseconds, from 5 ms to 4.7 h; the last bucket has none.
    public static let boundsMilliseconds: [Int64] = (0...32).map { Int64((5 * pow(1.6, Double($0))).rounded()) }

    /// Number of durations in each bucket: one more element than there are bounds.
    public private(set) var counts = Array(repeating: 0, count: boundsMilliseconds.count + 1)

    public init() {}

    /// Adds `count` durations to a bucket.
    public mutating func add(_ count: Int, inBucket bucket: Int) {
        guard counts.indices.contains(bucket) else { return }
        counts[bucket] = counts[bucket].adding(clamping: count)
    }

    public mutating func add(_ other: LatencyHistogram) {
        for (bucket, count) in other.counts.enumerated() { add(count, inBucket: bucket) }
    }

    /// Returns the duration in seconds that the given share of durations does not exceed; nil for an empty histogram.
    /// Durations beyond the last bound count as that bound.
    ///
    /// - Parameter share: greater than 0, at most 1.
    public func percentile(_ share: Double) -> Double? {
        let rank = share * Double(counts.reduce(0) { $0.adding(clamping: $1) })
        guard rank > 0 else { return nil }
        var below = 0.0
        for (bucket, count) in counts.enumerated() where count > 0 {
            if below + Double(count) >= rank { return Self.seconds(in: bucket, (rank - below) / Double(count)) }
            below += Double(count)
        }
        return nil
    }

    /// Interpolates within a bucket: geometrically, as the bounds grow; linearly from zero in the first bucket.
    private static func seconds(in bucket: Int, _ share: Double) -> Double {
        let bounds = boundsMilliseconds
        guard bucket < bounds.count else { return Double(bounds[bounds.count - 1]) / 1000 }
        guard bucket > 0 else { return Double(bounds[0]) * share / 1000 }
        let (lower, upper) = (Double(bounds[bucket - 1]), Double(bounds[bucket]))
        return lower * pow(upper / lower, share) / 1000
    }
}
