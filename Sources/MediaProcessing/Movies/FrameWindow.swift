import LibAV
import RichPush
import SafeArithmetic

/// The packets around a frame that will probably be wanted, kept while a movie is read from its beginning.
///
/// Where the middle of a movie lies is known at its end alone, so a stretch is kept in which it must lie; of that, only
/// groups of pictures as `PacketRun` would begin them.
struct FrameWindow {
    /// A header's word for the duration may differ so much, in seconds, from what the samples last.
    private static let slackSeconds = 0.25

    private let clock: FrameClock
    private let earliest: Int64
    private let latest: Int64
    private(set) var packets: [Packet] = []
    private var bytes = 0
    private var isFromStart = true
    private var isOver = false
    /// Whether a packet does not say its times, or there is too much to be held.
    private var isLost = false

    /// - Parameter seconds: Of the movie's own timeline; nil for the middle.
    /// - Returns: Nil for streams whose frames have to be searched for in other ways.
    init?(_ movie: OpenMovie, _ stream: StreamDescription, seconds: Double?) {
        guard movie.isISOBaseMedia, !FrameSearch.needsFirstPacket(stream) else { return nil }
        clock = FrameClock(movie, stream)
        if let seconds {
            guard abs(seconds) < Limits.durationSecondsMax else { return nil }
            earliest = clock.tick(ofMovieTime: seconds)
            latest = earliest
        } else {
            guard let middle = movie.demuxer.expectedDuration.map({ $0 / 2 }) else { return nil }
            // Bounded: floating point.
            earliest = clock.tick(ofMovieTime: middle - Self.slackSeconds)
            // Bounded: floating point.
            latest = clock.tick(ofMovieTime: middle + Self.slackSeconds)
        }
    }

    /// Takes the stream's next packet.
    mutating func take(_ packet: Packet) throws {
        if isOver || isLost || packet.byteCount == 0 { return }
        guard clock.isKnown(packet), let time = packet.presentationTimestamp, let order = packet.decodingTimestamp,
            bytes < Limits.soundnessBytesMax
        else { return lose() }
        if packet.isKeyframe, time <= earliest { restart() }
        packets.append(try packet.reference())
        bytes = bytes.adding(clamping: packet.byteCount)
        // Pictures are never shown before they are decoded.
        isOver = order > latest
    }

    private mutating func restart() {
        if !packets.isEmpty { isFromStart = false }
        packets = []
        bytes = 0
    }

    private mutating func lose() {
        packets = []
        isLost = true
    }

    /// Whether a group of pictures that begins with that packet may hold the frame.
    func begins(with key: Packet?) -> Bool {
        guard let first = packets.first, let key else { return false }
        return first.isSame(as: key)
    }

    /// Whether all packets have come that the frame may lean on, or none of them can be used.
    var isDecided: Bool { isOver || isLost }

    /// The run of packets to the frame that is shown at a time, to be asked for after the last packet; nil where it is
    /// not sure to be the one that a search would find.
    func run(toMovieTime seconds: Double) throws -> PacketRun? {
        let target = clock.tick(ofMovieTime: seconds)
        guard !isLost, (earliest...latest).contains(target) else { return nil }
        var run = PacketRun(clock: clock, target: target, isFromStart: isFromStart)
        for packet in packets { if try !run.take(packet) { return run.isTooLong ? nil : run } }
        return isOver ? nil : run
    }
}
