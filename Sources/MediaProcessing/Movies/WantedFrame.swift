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
        packets = Array(run.packets[...place])
        self.tick = tick
    }

    /// Its packets behind those of a group, if it is the group that it leans on; nil if it is another one.
    func packets(behind group: [Packet]) -> [Packet]? {
        guard let first = packets.first, let key = group.first, first.isSame(as: key) else { return nil }
        let rest = Array(packets.dropFirst(group.count))
        // What stands in the group that follows leans on more than this one.
        return rest.contains(where: \.isKeyframe) ? nil : rest
    }
}
