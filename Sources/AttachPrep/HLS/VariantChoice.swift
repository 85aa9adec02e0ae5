package import AttachPrepModel
package import RichPush

/// Chooses the variant of a master playlist to fetch: the smallest that iOS shows without encoding. Pure.
///
/// A notification shows a movie in the width of a phone at most, and the smallest variant has the best chance to arrive
/// on any network, so the variant does not depend on one.
package struct VariantChoice: Sendable, Hashable {
    package let variant: PlaylistVariant
    /// The address of the playlist with the audio; nil when the variant's segments contain it.
    package let audio: String?

    /// - Throws: `media.unsupported` for a playlist without a usable variant.
    package init(_ master: MasterPlaylist) throws(AttachPrepError) {
        let ranked = master.variants.filter { !$0.uri.isEmpty }.min { one, other in
            let ranks = (Rank(one.codecs, hasSize: one.width != nil), Rank(other.codecs, hasSize: other.width != nil))
            return ranks.0 == ranks.1 ? one.bandwidth < other.bandwidth : ranks.0 < ranks.1
        }
        guard let variant = ranked else { throw .noVariant }
        self.variant = variant
        let group = master.audio.filter { $0.group == variant.audioGroup }
        let rendition = group.first(where: \.isDefault) ?? group.first(where: \.isAutomatic) ?? group.first
        audio = rendition?.uri
    }

    /// How suitable a variant's codecs are; the first is the best.
    private enum Rank: Int, Comparable {
        case shown, unknown, converted, audioOnly

        init(_ codecs: [String], hasSize: Bool) {
            let names = codecs.map { $0.prefix { $0 != "." }.lowercased() }
            let video = names.filter { !Self.audio.contains($0) && !Self.text.contains($0) }
            if codecs.isEmpty {
                self = .unknown
            } else if video.isEmpty {
                self = hasSize ? .unknown : .audioOnly
            } else {
                let sounds = names.filter(Self.audio.contains)
                let isShown = video.allSatisfy(Self.shownVideo.contains) && sounds.allSatisfy { $0 == "mp4a" }
                self = isShown ? .shown : .converted
            }
        }

        static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }

        private static let shownVideo: Set<String> = ["avc1", "avc3", "hvc1", "hev1"]
        private static let audio: Set<String> = [
            "mp4a", "ac-3", "ec-3", "ac-4", "mp3", "flac", "fla1", "opus", "alac", "vorbis", "dtsc", "dtse", "dtsx",
        ]
        private static let text: Set<String> = ["stpp", "wvtt"]
    }
}

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
        let present = playlist.segments.filter { !$0.isMissing }
        var chosen: [PlaylistSegment] = []
        var sum = 0.0
        for segment in isLive ? present.reversed() : present {
            // Bounded: floating point. A live clip begins within a segment, whose real length may differ a little.
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
