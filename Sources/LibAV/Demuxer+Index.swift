import CLibAV
import SafeArithmetic

/// What a container's own index says of its samples.
extension Demuxer {
    /// The end in bytes of the sample that lies furthest back in the file, by the container's own index.
    package func indexedEnd(stream index: Int) -> Int64? {
        guard let stream = unsafe stream(index) else { return nil }
        let count = unsafe avformat_index_get_entries_count(stream)
        var end: Int64?
        for position in 0..<max(0, count) {
            guard let entry = unsafe avformat_index_get_entry(stream, position) else { break }
            let last = unsafe entry.pointee.pos.adding(clamping: Int64(clamping: entry.pointee.size))
            end = max(end ?? 0, last)
        }
        return end
    }

    /// Samples of a stream that are not empty, by the container's own index.
    package func indexedSamples(stream index: Int) -> Int {
        guard let stream = unsafe stream(index) else { return 0 }
        return (0..<max(0, unsafe avformat_index_get_entries_count(stream))).count { position in
            unsafe (avformat_index_get_entry(stream, position)?.pointee.size ?? 0) > 0
        }
    }
}
