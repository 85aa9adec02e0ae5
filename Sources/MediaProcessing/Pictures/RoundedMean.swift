/// The mean of a fixed number of samples of 8 bits, rounded, without dividing each time.
struct RoundedMean {
    private let count: UInt32
    /// The reciprocal, rounded up, with 32 bits behind the point; 0 where its error would show.
    private let reciprocal: UInt64

    /// Up to here `255.5 * count * count` stays below the point.
    private static let exactCountMax: UInt32 = 4096

    init(count: Int) {
        self.count = UInt32(count)
        reciprocal = self.count > Self.exactCountMax ? 0 : (1 << 32 + UInt64(count) - 1) / UInt64(count)
    }

    @inline(__always)
    func of(sum: UInt32) -> UInt8 {
        let rounded = sum &+ count / 2
        guard reciprocal != 0 else { return UInt8(truncatingIfNeeded: rounded / count) }
        return UInt8(truncatingIfNeeded: (UInt64(rounded) &* reciprocal) >> 32)
    }
}
