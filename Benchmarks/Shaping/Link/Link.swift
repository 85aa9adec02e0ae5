import Synchronization

/// One direction of a link: a connection's own, or one that connections of a cell share.
public final class Link: Sendable {
    private let schedule: Mutex<LinkSchedule>
    /// Bytes that leave together.
    public let quantumBytes: Int
    public let bitsPerSecond: Double

    public init(bitsPerSecond: Double) {
        let schedule = LinkSchedule(bitsPerSecond: bitsPerSecond)
        quantumBytes = schedule.quantumBytes
        self.bitsPerSecond = bitsPerSecond
        self.schedule = Mutex(schedule)
    }

    func departure(bytes: Int, readyAt: Int64) -> Int64 {
        schedule.withLock { $0.departure(bytes: bytes, readyAt: readyAt) }
    }
}

/// Both directions, and the way between the ends.
public struct LinkPair: Sendable {
    public let down: Link
    public let up: Link
    public let profile: LinkProfile

    public init(_ profile: LinkProfile) {
        self.profile = profile
        down = Link(bitsPerSecond: profile.bitsPerSecond)
        up = Link(bitsPerSecond: profile.uplinkBitsPerSecond)
    }

    /// Half a round trip, in nanoseconds.
    var delay: Int64 { Int64(profile.roundTripSeconds / 2 * 1_000_000_000) }
}
