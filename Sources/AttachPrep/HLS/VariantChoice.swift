import AttachPrepModel
import RichPush

/// Chooses the variant of a master playlist to fetch, among those that iOS shows without encoding. Pure.
///
/// Without a network it is the smallest, which has the best chance to arrive on any. With one it is the best that a
/// phone can fetch in time, or the smallest when none is small enough.
package struct VariantChoice: Sendable, Hashable {
    package let variant: PlaylistVariant
    /// The address of the playlist with the audio; nil when the variant's segments contain it.
    package let audio: String?

    /// The variants to try in order, when segments of one are missing.
    ///
    /// A segment of another variant cannot continue a movie: its size differs. So the whole clip is taken of it.
    ///
    /// - Parameter limits: Nil for a request without a network.
    package static func ranked(_ master: MasterPlaylist, within limits: VariantLimits? = nil) -> [VariantChoice] {
        let usable = master.variants.filter { !$0.uri.isEmpty }.sorted { one, other in
            let ranks = (Rank(one.codecs, hasSize: one.width != nil), Rank(other.codecs, hasSize: other.width != nil))
            guard ranks.0 == ranks.1 else { return ranks.0 < ranks.1 }
            let fits = (limits?.fits(one) ?? false, limits?.fits(other) ?? false)
            guard fits.0 == fits.1 else { return fits.0 }
            return fits.0 ? one.bandwidth > other.bandwidth : one.bandwidth < other.bandwidth
        }
        return usable.prefix(Limits.playlistVariantsTried).map { VariantChoice($0, of: master) }
    }

    private init(_ variant: PlaylistVariant, of master: MasterPlaylist) {
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
                let audioCodecs = names.filter(Self.audio.contains)
                let isShown = video.allSatisfy(Self.shownVideo.contains) && audioCodecs.allSatisfy { $0 == "mp4a" }
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

/// What a variant may have for a request with a network.
package struct VariantLimits: Sendable, Hashable {
    /// The size limit of the attachment: Apple's, the request's, and what a phone fetches in time.
    package let bytesMax: Int
    /// Seconds of the clip. A master playlist does not say whether the stream is live, so that without `clip` they are
    /// those of a finished one.
    package let seconds: Double

    package init(bytesMax: Int, seconds: Double) {
        self.bytesMax = bytesMax
        self.seconds = seconds
    }

    /// Nil for a request without a network.
    package init?(_ request: AttachmentRequest) {
        guard request.network != nil else { return nil }
        self.init(bytesMax: request.bytesMax(for: .movie), seconds: request.clipSeconds ?? Limits.clipSeconds)
    }

    /// Whether the clip stays below the limit at the variant's peak rate, in no more pixels than a notification shows.
    package func fits(_ variant: PlaylistVariant) -> Bool {
        // Bounded throughout: floating point.
        let bytes = Double(variant.bandwidth) * seconds / 8
        let sides = [variant.width ?? 0, variant.height ?? 0]
        return bytes <= Double(bytesMax) && sides.max() ?? 0 <= Limits.displayMovieLongSidePixelsMax
            && sides.min() ?? 0 <= Limits.displayMovieShortSidePixelsMax
    }
}

extension Limits {
    /// Variants of a playlist that are tried when segments are missing: each costs its segments again.
    static let playlistVariantsTried = 3
}
