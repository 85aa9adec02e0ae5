package import AttachPrepModel
import RichPush

/// Chooses the variant of a master playlist to fetch: the smallest that iOS shows without encoding. Pure.
///
/// A notification shows a movie in the width of a phone at most, and the smallest variant has the best chance to arrive
/// on any network, so the variant does not depend on one.
package struct VariantChoice: Sendable, Hashable {
    package let variant: PlaylistVariant
    /// The address of the playlist with the audio; nil when the variant's segments contain it.
    package let audio: String?

    /// The variants to try in order, when segments of one are missing.
    ///
    /// A segment of another variant cannot continue a movie: its size differs. So the whole clip is taken of it.
    package static func ranked(_ master: MasterPlaylist) -> [VariantChoice] {
        let usable = master.variants.filter { !$0.uri.isEmpty }.sorted { one, other in
            let ranks = (Rank(one.codecs, hasSize: one.width != nil), Rank(other.codecs, hasSize: other.width != nil))
            return ranks.0 == ranks.1 ? one.bandwidth < other.bandwidth : ranks.0 < ranks.1
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

extension Limits {
    /// Variants of a playlist that are tried when segments are missing: each costs its segments again.
    static let playlistVariantsTried = 3
}
