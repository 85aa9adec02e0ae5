import LibAV
import RichPush

/// A frame that is decoded on the way of a proof: the packets from its keyframe to its own, and its time.
struct WantedFrame {
    let packets: [Packet]
    /// Its presentation time.
    let tick: Int64

    /// - Returns: Nil where the packets do not say which of them it is.
    init?(_ run: PacketRun) {
        guard let tick = run.wanted, run.leader != nil,
            let place = run.packets.lastIndex(where: { $0.presentationTimestamp == tick })
        else { return nil }
        // Leading pictures, shown before their keyframe, are no reference of a picture that is shown after it.
        packets = run.packets[...place].filter { packet in run.packets.first.map(packet.isDependable) ?? true }
        self.tick = tick
    }
}

extension Packet {
    /// Whether the picture needs no group but that of the keyframe. Those shown before it lean on the one before.
    func isDependable(from key: Packet) -> Bool {
        guard let first = key.presentationTimestamp, let time = presentationTimestamp else { return true }
        return time >= first
    }

    /// Whether it is the same sample of the same stream.
    func isSame(as other: Packet) -> Bool {
        presentationTimestamp == other.presentationTimestamp && decodingTimestamp == other.decodingTimestamp
    }
}
