import MediaEngine
import RichPush
import SafeArithmetic

/// Why an attachable file is more than a notification shows, or a phone fetches in time. Pure.
struct DisplayExcess {
    let media: InspectedMedia
    let bytes: Int

    /// Nil when it can be delivered as it is.
    var reason: String? {
        switch media.kind {
        case .image: picture
        case .audio: sound
        case .movie: movie
        }
    }

    private var longSide: Int { max(media.width ?? 0, media.height ?? 0) }
    private var shortSide: Int { min(media.width ?? 0, media.height ?? 0) }
    private var size: String { "\(media.width ?? 0) x \(media.height ?? 0)" }

    private var picture: String? {
        let most =
            media.isAnimated ? Limits.displayAnimationSidePixelsMax : Limits.displayPictureSidePixelsMax
        if longSide > most { return "\(size) pixels are more than the \(most) a notification shows" }
        return media.hasMetadata || media.hasLocation ? "metadata is not delivered to phones" : nil
    }

    private var sound: String? {
        // Bounded: floating point, which does not trap.
        let rate = Double(bytes) * 8 / max(media.duration ?? 0, 0.001)
        let most = Double(Limits.displaySoundBitsPerSecondMax)
        // Bounded: floating point.
        if rate > most * Limits.displayRateTolerance {
            let (has, needs) = (Int(clamping: rate / 1000), Int(clamping: most / 1000))
            return "\(has) kbit/s are more than the \(needs) a notification needs"
        }
        return media.hasCoverArt || media.hasLocation || media.format == .mpeg4Audio && media.hasMetadata
            ? "metadata is not delivered to phones" : nil
    }

    private var movie: String? {
        if movieIsTooLarge {
            // Bounded: floating point.
            let rate = media.video?.frameRate.map { " at \(($0 * 10).rounded() / 10) frames a second" } ?? ""
            let most = Int(clamping: Limits.displayFramesPerSecondMax)
            return "\(size) pixels\(rate) are more than 720p at \(most), which a notification shows"
        }
        let carries = media.hasLocation || media.format == .mpeg4 && media.hasMetadata
        return carries ? "metadata is not delivered to phones" : nil
    }

    /// Whether its pictures have to be encoded: too many pixels, or too many frames.
    var movieIsTooLarge: Bool {
        longSide > Limits.displayMovieLongSidePixelsMax || shortSide > Limits.displayMovieShortSidePixelsMax
            || (media.video?.frameRate ?? 0) > Limits.displayFramesPerSecondMax * Limits.displayRateTolerance
    }
}
