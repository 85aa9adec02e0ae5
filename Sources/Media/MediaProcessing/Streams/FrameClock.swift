import MediaLibraries
import SafeArithmetic

/// Converts between a stream's ticks and seconds on the movie's timeline.
struct FrameClock: Sendable {
    /// Maximum number of frames by which H.264 and HEVC reorder.
    private static let reorderMax: Int64 = 16

    private let timeBase: TimeBase
    private let origin: Double
    private let countsPackets: Bool
    private let reorderDelay: Int64
    /// Average frame duration in ticks; at least 1.
    let interval: Int64

    init(_ movie: OpenMovie, _ stream: StreamDescription) {
        timeBase = stream.timeBase
        origin = movie.origin
        countsPackets = movie.countsPackets
        reorderDelay = Int64(clamping: stream.reorderDelay)
        let seconds = stream.frameRate.map { 1 / $0 } ?? 0.04
        interval = max(1, Int64(clamping: (min(seconds, 10) / max(stream.timeBase.tick, 1e-9)).rounded()))
    }

    /// The last tick that is not later than a time. Times are written in decimals, so half a tick of rounding is
    /// allowed, but at most half a millisecond where ticks are long.
    func tick(ofMovieTime seconds: Double) -> Int64 {
        let tolerance = min(max(timeBase.tick / 2, 1e-6), 0.0005)
        return timeBase.ticks(seconds + origin + tolerance)
    }

    func movieTime(ofTick tick: Int64) -> Double { timeBase.seconds(tick) - origin }

    /// Presentation time of a packet's frame, as far as the container stores it; never later than the real one.
    func presentation(_ packet: Packet) -> Int64? {
        if countsPackets { return packet.decodingTimestamp ?? packet.presentationTimestamp }
        return packet.presentationTimestamp ?? packet.decodingTimestamp
    }

    /// Whether the packet's timestamps give its frame's presentation time.
    func isKnown(_ packet: Packet) -> Bool {
        packet.presentationTimestamp != nil && (!countsPackets || reorderDelay == 0)
    }

    /// Ticks by which the real presentation time may be later than `presentation`.
    func presentationUncertainty(_ packet: Packet) -> Int64 {
        isKnown(packet) ? 0 : Self.reorderMax.multiplied(clamping: interval)
    }

    /// Ticks to subtract from a time before seeking, because an index is ordered by decoding time.
    var seekMargin: Int64 {
        (countsPackets ? Self.reorderMax : reorderDelay.adding(clamping: 1)).multiplied(clamping: interval)
    }

    /// Presentation time of a decoded frame; `previous` is that of the frame before it. Where a container only counts
    /// packets, libav's times are late by the reorder delay.
    func presentation(_ frame: Frame, after previous: Int64?) -> Int64 {
        let late = countsPackets ? reorderDelay.multiplied(clamping: interval) : 0
        let known = countsPackets ? frame.packetTimestamp : frame.presentationTimestamp ?? frame.bestEffortTimestamp
        return known.map { $0 &- late } ?? previous.map { $0 &+ interval } ?? 0
    }
}
