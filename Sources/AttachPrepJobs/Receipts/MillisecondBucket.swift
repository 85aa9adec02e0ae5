/// A span of durations that are counted as one: a millisecond below 128, and a 64th of each doubling above.
///
/// Few enough to be kept for each campaign (1,700 reach to a month), fine enough to be within 1% of any duration.
struct MillisecondBucket: Sendable, Hashable {
    /// From 0.
    let index: Int

    private static let stepsBits = 6
    private static let steps = 1 << stepsBits  // Bounded: shifts and masks of bytes, whose counts are below 64.

    /// Of one that a database holds: what no duration makes is the nearest one that some does.
    init(index: Int) {
        self.index = min(max(index, 0), Self.indexMax)
    }

    /// The longest duration's.
    private static let indexMax = MillisecondBucket(Int64.max).index

    /// The one that a duration falls into; what is negative falls into the first.
    init(_ milliseconds: Int64) {
        let value = Int(max(0, milliseconds))  // Bounded: shifts and masks of bytes, whose counts are below 64.
        // Bounded: shifts and masks of bytes, whose counts are below 64.
        let shift = max(0, Int.bitWidth - value.leadingZeroBitCount - 1 - Self.stepsBits)
        // Bounded: shifts and masks of bytes, whose counts are below 64.
        index = shift * Self.steps + (value >> shift)
    }

    /// Milliseconds, between the first and the last one of the span.
    var middle: Double {
        let shift = max(0, index / Self.steps - 1)
        // Bounded: shifts and masks of bytes, whose counts are below 64.
        let first = (index - shift * Self.steps) << shift
        // Bounded: shifts and masks of bytes, whose counts are below 64.
        return Double(first) + Double((1 << shift) - 1) / 2
    }
}
