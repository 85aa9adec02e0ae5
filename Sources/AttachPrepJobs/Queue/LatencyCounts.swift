internal import Glibc
internal import SafeArithmetic

/// How many of some durations fell into each of a few spans, each 1.6 times as long as the one before.
///
/// Enough to tell a percentile within some percent of it, and few enough to be counted by a database.
public struct LatencyCounts: Sendable, Hashable {
    /// The ends of the spans in milliseconds, from 5 ms to 4.7 hours; the last span has none.
    // Bounded: floating-point numbers.
    public static let boundsMilliseconds: [Int64] = (0...32).map { Int64((5 * pow(1.6, Double($0))).rounded()) }

    /// How many there are in each span, one more than there are bounds.
    public private(set) var counts = Array(repeating: 0, count: boundsMilliseconds.count + 1)

    public init() {}

    /// Notes so many durations of a span.
    public mutating func add(_ count: Int, inSpan span: Int) {
        guard counts.indices.contains(span) else { return }
        counts[span] = counts[span].adding(clamping: count)
    }

    public mutating func add(_ other: LatencyCounts) {
        for (span, count) in other.counts.enumerated() { add(count, inSpan: span) }
    }

    /// The seconds that such a share was not over; nil when there are none. What is behind the last bound counts as it.
    ///
    /// - Parameter share: more than 0, at most 1.
    public func percentile(_ share: Double) -> Double? {
        let rank = share * Double(counts.reduce(0) { $0.adding(clamping: $1) })
        guard rank > 0 else { return nil }
        var below = 0.0
        for (span, count) in counts.enumerated() where count > 0 {
            // Bounded: floating-point numbers.
            if below + Double(count) >= rank { return Self.seconds(in: span, (rank - below) / Double(count)) }
            below += Double(count)
        }
        return nil
    }

    /// As far into a span as a share of it: by factors, as the spans themselves grow; the first one begins at zero.
    private static func seconds(in span: Int, _ share: Double) -> Double {
        let bounds = boundsMilliseconds
        guard span < bounds.count else { return Double(bounds[bounds.count - 1]) / 1000 }
        guard span > 0 else { return Double(bounds[0]) * share / 1000 }
        let (lower, upper) = (Double(bounds[span - 1]), Double(bounds[span]))
        return lower * pow(upper / lower, share) / 1000
    }
}
