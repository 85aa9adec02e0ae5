import LibAV

/// The groups of pictures that a container's index promises.
struct IndexedGroups {
    private let samples: [Int64: Int]
    private let last: Int64?

    /// Of an MP4 or QuickTime movie; others have no index that is there before their packets.
    init(_ stream: StreamDescription, of demuxer: Demuxer) {
        let groups = OpenMovie.isISOBaseMedia(demuxer) ? demuxer.indexedGroups(stream: stream.index) : []
        samples = Dictionary(groups.map { ($0.timestamp, $0.samples) }) { first, _ in first }
        last = groups.last?.timestamp
    }

    /// How many packets follow from that keyframe to the next one; nil where the index does not know it.
    func packets(from key: Packet) -> Int? { key.decodingTimestamp.flatMap { samples[$0] } }

    /// Whether no keyframe follows that one.
    func isLast(_ key: Packet) -> Bool { key.decodingTimestamp == last }
}
