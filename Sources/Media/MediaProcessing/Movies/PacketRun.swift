import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// The packets from a keyframe to the wanted frame.
struct PacketRun {
    /// Packets read beyond the wanted time where packet times are uncertain: the maximum reorder depth.
    private static let surplusMax = 16

    private(set) var packets: [Packet] = []
    /// Whether all packets have a reliable presentation time.
    private(set) var isTimed = true
    /// Whether the run begins at the start of the stream.
    private(set) var isFromStart: Bool
    private var bytes = 0
    private var surplus = 0
    private var seen = 0

    private let clock: FrameClock
    private let target: Int64

    init(clock: FrameClock, target: Int64, isFromStart: Bool) {
        self.clock = clock
        self.target = target
        self.isFromStart = isFromStart
    }

    /// Whether the run has more bytes than may be held in memory.
    var isTooLong: Bool { bytes > Limits.frameGroupBytesMax }

    /// Adds the stream's next packet; returns false when no more are needed.
    mutating func append(_ packet: Packet) throws -> Bool {
        if packet.byteCount == 0 { return true }
        if packet.isKeyframe { restart(at: packet) }
        // After a seek nothing can be decoded before a keyframe.
        if packets.isEmpty, !packet.isKeyframe, !isFromStart { return true }
        seen += 1
        packets.append(try packet.reference())
        bytes = bytes.adding(clamping: packet.byteCount)
        isTimed = isTimed && clock.isKnown(packet)
        return !isTooLong && !isEnough(after: packet)
    }

    /// Restarts at a keyframe that is shown at or before the wanted time: earlier packets are not needed.
    private mutating func restart(at key: Packet) {
        guard let time = clock.presentation(key), time &+ clock.presentationUncertainty(key) <= target else { return }
        if seen > 0 { isFromStart = false }
        packets = []
        bytes = 0
        isTimed = true
        surplus = 0
    }

    /// Whether all candidates have been read: frames are never shown before they are decoded.
    private mutating func isEnough(after packet: Packet) -> Bool {
        guard let time = packet.decodingTimestamp ?? packet.presentationTimestamp, time > target else { return false }
        surplus += 1
        return isTimed && wanted != nil && packet.decodingTimestamp != nil || surplus > Self.surplusMax
    }

    /// Presentation time of the first keyframe, in ticks.
    var keyframeTime: Int64? {
        guard isTimed, let first = packets.first, first.isKeyframe else { return nil }
        return first.presentationTimestamp
    }

    /// Presentation time of the wanted frame, from packet times; nil if it is not in the run.
    var wanted: Int64? {
        guard isTimed else { return nil }
        let shown = packets.filter { !$0.isDiscarded }.compactMap(\.presentationTimestamp)
        return shown.filter { time in time <= target && keyframeTime.map { time >= $0 } ?? true }.max()
    }

    /// Presentation time of the first frame, for a wanted time before it.
    var earliest: Int64? {
        guard isTimed, isFromStart else { return nil }
        let shown = packets.filter { !$0.isDiscarded }.compactMap(\.presentationTimestamp)
        return shown.filter { time in keyframeTime.map { time >= $0 } ?? true }.min()
    }
}

/// The packets around a frame that will probably be wanted, kept while a movie is read from its beginning.
///
/// The middle of a movie is known only at its end, so the packets of a range are kept in which it must lie, with groups
/// of pictures beginning as in `PacketRun`.
struct FrameWindow {
    /// Maximum difference in seconds between declared and real duration.
    private static let slackSeconds = 0.25

    private let clock: FrameClock
    private let earliest: Int64
    private let latest: Int64
    private(set) var packets: [Packet] = []
    private var bytes = 0
    private var isFromStart = true
    private var isOver = false
    /// Whether the window is unusable: a packet without times, or too many bytes.
    private var isUnusable = false

    /// - Parameter seconds: Time on the movie's timeline; nil for the middle.
    /// - Returns: Nil for streams whose frames have to be searched for.
    init?(_ movie: OpenMovie, _ stream: StreamDescription, seconds: Double?) {
        guard movie.isISOBaseMedia, !FrameSearch.needsFirstPacket(stream) else { return nil }
        clock = FrameClock(movie, stream)
        if let seconds {
            guard abs(seconds) < Limits.durationSecondsMax else { return nil }
            earliest = clock.tick(ofMovieTime: seconds)
            latest = earliest
        } else {
            guard let middle = movie.demuxer.expectedDuration.map({ $0 / 2 }) else { return nil }
            earliest = clock.tick(ofMovieTime: middle - Self.slackSeconds)
            latest = clock.tick(ofMovieTime: middle + Self.slackSeconds)
        }
    }

    /// Processes the stream's next packet.
    mutating func append(_ packet: Packet) throws {
        if isOver || isUnusable || packet.byteCount == 0 { return }
        guard clock.isKnown(packet), let time = packet.presentationTimestamp, let order = packet.decodingTimestamp,
            bytes < Limits.validationBytesMax
        else { return lose() }
        if packet.isKeyframe, time <= earliest { restart() }
        packets.append(try packet.reference())
        bytes = bytes.adding(clamping: packet.byteCount)
        // Frames are never shown before they are decoded.
        isOver = order > latest
    }

    private mutating func restart() {
        if !packets.isEmpty { isFromStart = false }
        packets = []
        bytes = 0
    }

    private mutating func lose() {
        packets = []
        isUnusable = true
    }

    /// Whether a group of pictures that begins with this packet may contain the frame.
    func begins(with key: Packet?) -> Bool {
        guard let first = packets.first, let key else { return false }
        return first.isSame(as: key)
    }

    /// Whether all packets that the frame can depend on have arrived, or the window is unusable.
    var isDecided: Bool { isOver || isUnusable }

    /// The packets up to the frame shown at a time; call it after the last packet. Nil if a search could find another
    /// frame.
    func run(toMovieTime seconds: Double) throws -> PacketRun? {
        let target = clock.tick(ofMovieTime: seconds)
        guard !isUnusable, (earliest...latest).contains(target) else { return nil }
        var run = PacketRun(clock: clock, target: target, isFromStart: isFromStart)
        for packet in packets { if try !run.append(packet) { return run.isTooLong ? nil : run } }
        return isOver ? nil : run
    }
}

/// A frame decoded during validation: the packets from its keyframe to its own, and its time.
struct WantedFrame {
    let packets: [Packet]
    /// Presentation time in ticks.
    let tick: Int64

    /// - Returns: Nil if the packets do not identify the frame.
    init?(_ run: PacketRun) {
        guard let tick = run.wanted, run.keyframeTime != nil,
            let index = run.packets.lastIndex(where: { $0.presentationTimestamp == tick })
        else { return nil }
        // Leading frames, shown before their keyframe, are no references of frames shown after it.
        packets = run.packets[...index].filter { packet in run.packets.first.map(packet.isDecodable) ?? true }
        self.tick = tick
    }
}

extension Packet {
    /// Whether the frame depends on no group but the keyframe's. Frames shown before the keyframe depend on the
    /// previous group.
    func isDecodable(from key: Packet) -> Bool {
        guard let first = key.presentationTimestamp, let time = presentationTimestamp else { return true }
        return time >= first
    }

    /// Whether both are the same sample of one stream.
    func isSame(as other: Packet) -> Bool {
        presentationTimestamp == other.presentationTimestamp && decodingTimestamp == other.decodingTimestamp
    }
}

extension Limits {
    /// Encoded bytes of the group of pictures that contains a requested frame.
    static let frameGroupBytesMax = 128_000_000
}
