import FuzzSupport
import RichPush

@testable import AttachPrep

/// Fuzzes HLS playlists and the choice of their variants and segments.
@main enum PlaylistFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            let seconds = input.byte()
            guard let playlist = try? Playlist(input.rest()) else { return }
            switch playlist {
            case .master(let master): check(master)
            case .media(let media): check(media, seconds: seconds == 0 ? nil : Double(seconds))
            }
        }
    }

    private static func check(_ master: MasterPlaylist) {
        Invariant.hold(master.variants.count <= Limits.playlistEntriesMax, "variants are bounded")
        guard let choice = VariantChoice.ranked(master).first else { return }
        Invariant.hold(master.variants.contains(choice.variant), "a variant of the playlist is chosen")
    }

    private static func check(_ media: MediaPlaylist, seconds: Double?) {
        Invariant.hold((1...Limits.playlistEntriesMax).contains(media.segments.count), "segments are bounded")
        for segment in media.segments {
            Invariant.hold(segment.seconds >= 0 && segment.seconds.isFinite, "a duration is a number")
            check(segment.range)
            check(segment.map?.range)
            for case .aes128(_, let vector?) in [segment.protection, segment.map?.protection ?? .none] {
                Invariant.hold(vector.count == 16, "a vector has 16 bytes")
            }
        }
        guard let clip = try? PlaylistClip(media, seconds: seconds) else { return }
        Invariant.hold((1...Limits.clipSegmentsMax).contains(clip.segments.count), "a clip is bounded")
        Invariant.hold(clip.segments.allSatisfy { !$0.isGap }, "and has no missing segment")
    }

    private static func check(_ range: ResourceRange?) {
        guard let range else { return }
        Invariant.hold(range.offset >= 0 && range.length > 0 && range.end > range.offset, "a range is not empty")
    }
}
