/// When bytes leave a link of a certain rate, one after the other: a token bucket that holds no tokens.
///
/// It keeps the time at which the link is free again instead of a sum of tokens, so that nothing is lost to a clock
/// that ticks late: what leaves late by the wall clock still leaves at its time on the link. A link that was idle has
/// saved nothing up. Times are nanoseconds of the caller's clock.
public struct LinkSchedule: Sendable, Hashable {
    public let bitsPerSecond: Double
    /// When the last byte that was accepted has left.
    public private(set) var freeAt: Int64 = .min
    /// What rounding down to nanoseconds left over; without it 200 roundings a second would add up.
    private var fraction = 0.0

    public init(bitsPerSecond: Double) {
        precondition(bitsPerSecond > 0, "A link carries something.")
        self.bitsPerSecond = bitsPerSecond
    }

    /// When so many bytes have left that were ready at a time.
    public mutating func departure(bytes: Int, readyAt: Int64) -> Int64 {
        if readyAt > freeAt {
            freeAt = readyAt
            fraction = 0
        }
        let nanoseconds = Double(bytes) * 8 * 1_000_000_000 / bitsPerSecond + fraction
        let whole = nanoseconds.rounded(.down)
        fraction = nanoseconds - whole
        freeAt += Int64(whole)
        return freeAt
    }

    /// Bytes that leave together: few enough that a reader sees a flow, enough that a fast link is no storm of timers.
    ///
    /// Eight milliseconds of the rate, not less than a packet's worth.
    public var quantumBytes: Int {
        min(max(Int(bitsPerSecond / 8 * 0.008), Self.packetBytes), Self.quantumBytesMax)
    }

    /// What fits into one packet of 1,500 bytes over TCP.
    private static let packetBytes = 1_448
    /// Five milliseconds at 100 Mbit/s.
    private static let quantumBytesMax = 65_536
}
