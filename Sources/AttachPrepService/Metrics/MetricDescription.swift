/// What is said of a metric beside its numbers.
public struct MetricDescription: Sendable, Hashable {
    /// One sentence for people.
    public var help: String
    /// Upper bounds of a histogram's buckets, rising; without them those for seconds are taken.
    public var buckets: [Double]?

    public init(_ help: String, buckets: [Double]? = nil) {
        self.help = help
        self.buckets = buckets
    }

    /// From what a reused result takes to what a long movie takes: seconds.
    public static let secondsBuckets: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
    ]

    /// From an icon to the largest movie, in factors of about four: bytes.
    public static let bytesBuckets: [Double] = [
        1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 250_000_000,
    ]
}
