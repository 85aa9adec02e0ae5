package import AttachPrepModel
package import RichPush

/// The segments of a playlist that a clip needs. Pure.
package struct PlaylistClip: Sendable, Hashable {
    /// In the order of the playlist.
    package let segments: [PlaylistSegment]
    /// Seconds of the clip: the last ones of a live stream, the first ones of any other.
    package let seconds: Double
    package let isLive: Bool
    /// Whether the playlist has more.
    package let isPart: Bool

    /// - Parameter seconds: As requested; nil for the default.
    /// - Throws: `media.too_long` when the clip takes too many segments, `media.empty` when all segments are missing,
    ///   `media.encrypted` for protected segments.
    package init(_ playlist: MediaPlaylist, seconds: Double?) throws(AttachPrepError) {
        isLive = !playlist.isEnded
        let wanted = seconds ?? (isLive ? Limits.liveClipSeconds : Limits.clipSeconds)
        let present = playlist.segments.filter { !$0.isGap }
        var chosen: [PlaylistSegment] = []
        var sum = 0.0
        for segment in isLive ? present.reversed() : present {
            // A live clip begins within a segment, whose real length may differ a little.
            if sum >= wanted { break }
            chosen.append(segment)
            guard chosen.count <= Limits.clipSegmentsMax else { throw .tooManySegments(wanted) }
            // Bounded: floating point.
            sum += segment.seconds
        }
        guard !chosen.isEmpty else { throw .emptyPlaylist(isLive: isLive) }
        for segment in chosen {
            let protections = [segment.protection, segment.map?.protection ?? .none]
            for case .unsupported(let method) in protections { throw .protectedPlaylist(method) }
        }
        segments = isLive ? chosen.reversed() : chosen
        self.seconds = wanted
        isPart = chosen.count < playlist.segments.count || sum > wanted
    }
}

extension Limits {
    /// Seconds of a live stream that are taken without `clip`.
    package static let liveClipSeconds = 10.0
    /// Seconds of a finished stream that are taken without `clip`.
    package static let clipSeconds = 60.0
    /// The longest clip that can be requested.
    package static let clipSecondsMax = 300.0
    /// Segments of one clip; with segments of 2 s, that of the longest clip has 150.
    package static let clipSegmentsMax = 300
    /// Bytes of the segments of a clip; a media process may not write a larger file.
    package static let clipBytesMax = 95_000_000
}
