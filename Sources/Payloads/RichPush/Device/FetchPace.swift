/// How fast a download proceeds, to decide whether it is given up for a smaller rendition. Pure.
public struct FetchPace: Sendable, Hashable {
    /// Bytes that have arrived since the response header.
    public var received: Int
    /// The length of the body in bytes, by the response header or the payload.
    public var expected: Int
    /// Seconds since the response header.
    public var seconds: Double

    public init(received: Int, expected: Int, seconds: Double) {
        (self.received, self.expected, self.seconds) = (received, expected, seconds)
    }

    /// Whether the rest of the file would arrive after `secondsLeft` at the rate so far.
    ///
    /// False until the rate has been measured for `deviceRateSeconds`.
    public func misses(_ secondsLeft: Double) -> Bool {
        guard seconds >= Limits.deviceRateSeconds, received < expected else { return false }
        let rate = Double(max(received, 0)) / seconds
        return Double(expected) - Double(received) > rate * max(secondsLeft, 0)
    }
}

extension Limits {
    /// Time in which a download's rate is measured: TCP starts slowly, in some five round trips of 0.15 to 0.3 s on 3G.
    static let deviceRateSeconds = 1.0
}
