import LibAV
import RichPush
import SafeArithmetic

/// The packets from a keyframe to the frame that is wanted.
struct PacketRun {
    /// Packets read beyond the wanted time where their own times are not sure: the deepest reordering there is.
    private static let surplusMax = 16

    private(set) var packets: [Packet] = []
    /// Whether every packet says when its picture is shown.
    private(set) var isTimed = true
    /// Whether the run begins where the stream begins.
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

    /// Whether there is too much of it to be held.
    var isTooLong: Bool { bytes > Limits.frameGroupBytesMax }

    /// Takes the stream's next packet; false when nothing more is needed.
    mutating func take(_ packet: Packet) throws -> Bool {
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

    /// A keyframe that is shown at or before the wanted time makes all before it needless.
    private mutating func restart(at key: Packet) {
        guard let time = clock.presentation(key), time &+ clock.doubt(key) <= target else { return }
        if seen > 0 { isFromStart = false }
        packets = []
        bytes = 0
        isTimed = true
        surplus = 0
    }

    /// Pictures are never shown before they are decoded.
    private mutating func isEnough(after packet: Packet) -> Bool {
        guard let time = packet.decodingTimestamp ?? packet.presentationTimestamp, time > target else { return false }
        surplus += 1
        return isTimed && wanted != nil && packet.decodingTimestamp != nil || surplus > Self.surplusMax
    }

    /// Presentation time of the keyframe in front, in ticks.
    var leader: Int64? {
        guard isTimed, let first = packets.first, first.isKeyframe else { return nil }
        return first.presentationTimestamp
    }

    /// The presentation time of the picture wanted, by the packets' own times; nil when it is not among them.
    var wanted: Int64? {
        guard isTimed else { return nil }
        let shown = packets.filter { !$0.isDiscarded }.compactMap(\.presentationTimestamp)
        return shown.filter { time in time <= target && leader.map { time >= $0 } ?? true }.max()
    }

    /// The first picture shown at all: what a time before it gets.
    var earliest: Int64? {
        guard isTimed, isFromStart else { return nil }
        let shown = packets.filter { !$0.isDiscarded }.compactMap(\.presentationTimestamp)
        return shown.filter { time in leader.map { time >= $0 } ?? true }.min()
    }
}
