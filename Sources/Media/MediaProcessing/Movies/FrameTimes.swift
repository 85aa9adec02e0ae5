import MediaLibraries
import SafeArithmetic

/// Presentation times of decoded frames in seconds on the output timeline; strictly increasing.
struct FrameTimes {
    /// Seconds from which a step back in time is treated as a reset clock, not as a frame out of order.
    private static let resetSeconds = 1.0

    private let stream: StreamDescription
    private let clock: FrameClock
    private let timeline: MovieTimeline
    private let countsPackets: Bool
    private let interval: Double
    /// Decoding timestamp of the first packet, for containers that count packets: the first frame is shown then.
    private var firstPacket: Int64?
    private var delay: Double?
    private var correction = 0.0
    private var previous: Double?

    init(_ movie: OpenMovie, _ scan: MovieScan) {
        stream = scan.video
        clock = FrameClock(movie, scan.video)
        timeline = scan.timeline
        countsPackets = movie.countsPackets
        interval = scan.interval
    }

    /// Records a packet before it is sent to the decoder.
    mutating func send(_ packet: Packet) {
        firstPacket = firstPacket ?? packet.decodingTimestamp
    }

    /// The frame's time; nil if it is not later than the previous frame's.
    mutating func time(of frame: Frame) -> Double? {
        guard var time = own(frame) else { return advance(to: (previous ?? -interval) + interval) }
        time += correction
        guard let last = previous, time <= last else { return advance(to: time) }
        if last - time < Self.resetSeconds { return nil }
        correction += last + interval - time
        return advance(to: last + interval)
    }

    private mutating func advance(to time: Double) -> Double {
        previous = time
        return time
    }

    private mutating func own(_ frame: Frame) -> Double? {
        if countsPackets {
            guard let tick = frame.packetTimestamp ?? frame.bestEffortTimestamp else { return nil }
            let late = delay ?? max(0, Double(tick.subtracting(clamping: firstPacket ?? tick)) * stream.timeBase.tick)
            delay = late
            return timeline.output(clock.movieTime(ofTick: tick) - late)
        }
        return (frame.bestEffortTimestamp ?? frame.packetTimestamp).map { timeline.output(clock.movieTime(ofTick: $0)) }
    }
}
