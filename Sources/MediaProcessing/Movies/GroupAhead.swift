import LibAV

/// A group of pictures that is decoded while its packets come. It has to be proved anyway, and of a movie that still
/// arrives little is left to be done after the last byte.
final class GroupAhead {
    let decoding: GroupDecoding
    /// Packets at its beginning that are proved.
    private let packetsMax: Int
    private let skipsNonReference: Bool
    private let key: Packet
    /// Packets of the group that are done.
    private(set) var count = 0
    /// Whether it is known which frame is wanted of it, or that none is.
    private(set) var isDecided = false

    init(_ decoding: GroupDecoding, key: Packet, packetsMax: Int, skipsNonReference: Bool) {
        self.decoding = decoding
        self.key = key
        self.packetsMax = packetsMax
        self.skipsNonReference = skipsNonReference
    }

    /// Says which frame is wanted; nil for none.
    func decide(_ wanted: WantedFrame?) {
        decoding.wanted = wanted
        isDecided = true
    }

    /// Decodes what has come, up to a packet that has to wait.
    ///
    /// - Parameter waits: Whether it is not known yet if that packet is the one that is wanted.
    func advance(in group: [Packet], waits: (Packet) -> Bool) throws {
        while count < min(group.count, packetsMax) {
            let packet = group[count]
            if !isDecided, waits(packet) { return }
            count += 1
            if packet.isDependable(from: key) {
                try decoding.prove(CollectionOfOne(packet), skipsNonReference: skipsNonReference)
            }
        }
    }

    /// Whether it is that group, decoded so far as it would be for that frame.
    func serves(_ group: [Packet], isLong: Bool, _ frame: WantedFrame?) -> Bool {
        guard let first = group.first, first.isSame(as: key), isLong == skipsNonReference, count <= group.count else {
            return false
        }
        guard let frame, decoding.wanted?.tick != frame.tick else { return true }
        if isDecided || group.prefix(count).contains(where: { $0.presentationTimestamp == frame.tick }) { return false }
        decide(frame)
        return true
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
