public import AttachPrepModel
import MediaTypes
import Synchronization

/// One direction of a link, used by one connection or shared by all connections of a cell.
public final class Link: Sendable {
    private let schedule: Mutex<LinkSchedule>
    /// The largest number of bytes that depart together.
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

/// Both directions of a link.
public struct LinkPair: Sendable {
    public let down: Link
    public let up: Link
    public let profile: LinkProfile

    public init(_ profile: LinkProfile) {
        self.profile = profile
        down = Link(bitsPerSecond: profile.bitsPerSecond)
        up = Link(bitsPerSecond: profile.uplinkBitsPerSecond)
    }

    /// The one-way delay in nanoseconds: half a round trip.
    var delay: Int64 { Int64(profile.roundTripSeconds / 2 * 1_000_000_000) }
}

/// The bandwidth and latency of a link.
public struct LinkProfile: Sendable, Hashable {
    /// The value of `--network`: `3g`, or `40000,20`.
    public let name: String
    /// Downlink bandwidth in bits per second.
    public let bitsPerSecond: Double
    /// Round-trip time in seconds.
    public let roundTripSeconds: Double

    /// Uplink bandwidth as a fraction of the downlink's, typical of phones; requests are short, so it matters little.
    public static let uplinkShare = 0.25
    /// Accepted bandwidths in kbit/s: from slower than any network in use to 1 Gbit/s, which needs no shaping.
    private static let kilobits = 1.0...1_000_000
    /// Accepted round-trip times in ms: up to twice that of a geostationary satellite with its ground links.
    private static let roundTripMilliseconds = 0.0...2_000

    /// Uplink bandwidth in bits per second.
    public var uplinkBitsPerSecond: Double { bitsPerSecond * Self.uplinkShare }

    /// The read-ahead per connection in bytes: 0.2 s of the bandwidth, so that a short delay of the source does not
    /// leave the link idle.
    var readAheadBytes: Int { min(max(Int(bitsPerSecond / 8 * 0.2), 131_072), 4_194_304) }

    public init(_ network: NetworkProfile) {
        self.init(
            name: network.rawValue, bitsPerSecond: network.bitsPerSecond, roundTripSeconds: network.roundTripSeconds)
    }

    /// Parses a network name, or kbit/s and round-trip milliseconds: `3g`, `40000,20`; nil when invalid.
    public init?(_ text: String) {
        if let network = NetworkProfile(rawValue: text) {
            self.init(network)
            return
        }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
        guard numbers.count == 2, Self.kilobits.contains(numbers[0]),
            Self.roundTripMilliseconds.contains(numbers[1])
        else { return nil }
        self.init(name: text, bitsPerSecond: numbers[0] * 1_000, roundTripSeconds: numbers[1] / 1_000)
    }

    private init(name: String, bitsPerSecond: Double, roundTripSeconds: Double) {
        self.name = name
        self.bitsPerSecond = bitsPerSecond
        self.roundTripSeconds = roundTripSeconds
    }
}

/// Computes when bytes leave a link of a given rate: a virtual-clock shaper without burst credit.
///
/// It keeps the time at which the link is free again, so that late timers lose no bandwidth: the departure times do not
/// depend on when they are computed. An idle link accumulates no credit. Times are nanoseconds of the caller's clock.
public struct LinkSchedule: Sendable, Hashable {
    public let bitsPerSecond: Double
    /// When the last accepted byte has left.
    public private(set) var freeAt: Int64 = .min
    /// The fraction of a nanosecond lost by rounding, carried over so that rounding errors do not add up.
    private var fraction = 0.0

    public init(bitsPerSecond: Double) {
        precondition(bitsPerSecond > 0, "The bandwidth must be positive.")
        self.bitsPerSecond = bitsPerSecond
    }

    /// Returns when `bytes` bytes that were ready at `readyAt` have left the link.
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

    /// The number of bytes that leave together: 8 ms of the rate, at least one packet.
    ///
    /// Small enough for a steady flow, large enough to limit timers on fast links.
    public var quantumBytes: Int {
        min(max(Int(bitsPerSecond / 8 * 0.008), Self.packetBytes), Self.quantumBytesMax)
    }

    /// The TCP payload of a packet of 1,500 bytes.
    private static let packetBytes = 1_448
    /// 5 ms at 100 Mbit/s.
    private static let quantumBytesMax = 65_536
}
