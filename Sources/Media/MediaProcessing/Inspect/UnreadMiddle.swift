import MediaLibraries
import MediaTypes
import SafeArithmetic

/// The packets of an audio file that need not be read, because nothing in them can be checked: they are neither decoded
/// nor do they have checksums, and the container's index or size, which is validated before, tells where they end.
///
/// Of the 500 packets of an AIFF of 2 MB, some 60 are read.
struct UnreadMiddle: Sendable, Hashable {
    let stream: Int
    /// Where the last packets begin, in ticks of the stream.
    let end: Int64

    /// - Returns: Nil for a file that must be read as a whole.
    init?(_ movie: OpenMovie) {
        guard movie.video == nil, movie.audio.count == 1, let stream = movie.audio.first,
            let end = Self.lastPackets(of: stream, in: movie)
        else { return nil }
        self.stream = stream.index
        self.end = end
    }

    private static func lastPackets(of stream: StreamDescription, in movie: OpenMovie) -> Int64? {
        // Only the first fragment of a fragmented file is in the index; all others are read.
        if movie.isISOBaseMedia {
            return movie.demuxer.indexedTick(stream: stream.index, fromEnd: Limits.unreadMiddleMarginPackets)
        }
        guard ["wav", "aiff"].contains(movie.demuxer.name), stream.codec.hasPrefix("pcm_") else { return nil }
        // One second.
        return stream.declaredDuration?.subtracting(clamping: Int64(clamping: stream.sampleRate))
    }
}

extension Limits {
    /// Packets that are read at the beginning and at the end of audio whose middle is not read: twice as many as are
    /// decoded.
    static let unreadMiddleMarginPackets = 16
}
