import LibAV
import SafeArithmetic

/// Ticks of a stream as presentation times, and seconds of the movie's own timeline.
struct FrameClock: Sendable {
    /// Pictures that may be decoded before one that is shown earlier: what H.264 and HEVC allow.
    private static let reorderMax: Int64 = 16

    private let timeBase: TimeBase
    private let origin: Double
    private let countsPackets: Bool
    private let reorderDelay: Int64
    /// Ticks of one frame by the average rate; at least 1.
    let interval: Int64

    init(_ movie: OpenMovie, _ stream: StreamDescription) {
        timeBase = stream.timeBase
        origin = movie.origin
        countsPackets = movie.countsPackets
        reorderDelay = Int64(clamping: stream.reorderDelay)
        // Bounded: floating point.
        let seconds = stream.frameRate.map { 1 / $0 } ?? 0.04
        // Bounded: floating point, until it is clamped.
        interval = max(1, Int64(clamping: (min(seconds, 10) / max(stream.timeBase.tick, 1e-9)).rounded()))
    }

    /// The last tick not later than a time. Times are written in decimals, so half a tick of rounding is allowed, but
    /// no more than half a millisecond where ticks are long.
    func tick(ofMovieTime seconds: Double) -> Int64 {
        let tolerance = min(max(timeBase.tick / 2, 1e-6), 0.0005)
        // Bounded: floating point.
        return timeBase.ticks(seconds + origin + tolerance)
    }

    // Bounded throughout: floating point.
    func movieTime(ofTick tick: Int64) -> Double { timeBase.seconds(tick) - origin }

    /// When a packet's picture is shown, as far as the container knows; not later than it is.
    func presentation(_ packet: Packet) -> Int64? {
        if countsPackets { return packet.decodingTimestamp ?? packet.presentationTimestamp }
        return packet.presentationTimestamp ?? packet.decodingTimestamp
    }

    /// Whether packets carry the times of their pictures.
    func isKnown(_ packet: Packet) -> Bool {
        packet.presentationTimestamp != nil && (!countsPackets || reorderDelay == 0)
    }

    /// Ticks that a picture may be shown later than `presentation` says.
    func doubt(_ packet: Packet) -> Int64 { isKnown(packet) ? 0 : Self.reorderMax.multiplied(clamping: interval) }

    /// Ticks before a time at which an index, which orders by decoding, is asked for its keyframe.
    var seekMargin: Int64 {
        (countsPackets ? Self.reorderMax : reorderDelay.adding(clamping: 1)).multiplied(clamping: interval)
    }

    /// When a decoded picture is shown; `previous` is the picture before it. Where a container only counts packets,
    /// libav's times come late by the reorder delay.
    func presentation(_ frame: Frame, after previous: Int64?) -> Int64 {
        let late = countsPackets ? reorderDelay.multiplied(clamping: interval) : 0
        let known = countsPackets ? frame.packetTimestamp : frame.presentationTimestamp ?? frame.bestEffortTimestamp
        return known.map { $0 &- late } ?? previous.map { $0 &+ interval } ?? 0
    }
}
