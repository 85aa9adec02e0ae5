import MediaEngine
import RichPush
import SafeArithmetic

/// How a file that is written anew is written: what is kept of it, and within which bounds. Pure.
struct RenditionChoice {
    let media: InspectedMedia
    let bytes: Int
    let request: AttachmentRequest

    private var isDisplay: Bool { request.rendition == .display }

    /// Bytes the result may have: made fit for a display, nothing becomes larger than it was.
    ///
    /// But for pictures that iOS does not take: JPEG and GIF need several times the bytes of AVIF and WebP, and held to
    /// those a picture of 800 pixels would end with 190.
    private func bytesMax(_ kind: MediaKind) -> Int {
        let limit = request.bytesMax(for: kind)
        guard isDisplay, kind == media.kind else { return limit }
        if kind == .image, case .foreign = Attachability(media) { return limit }
        return min(limit, bytes)
    }

    /// By what it is.
    func rendition() -> AttachmentRendition {
        let rendition: AttachmentRendition =
            switch media.kind {
            case .image where media.isAnimated: .animation(animation())
            case .image: .still(still())
            case .audio: .sound(sound())
            case .movie: .movie(movie())
            }
        // Another box may take a few bytes more; encoding anew for them would be worse.
        return rendition.isCopy ? rendition.within(bytesMax: request.bytesMax(for: media.kind)) : rendition
    }

    func still() -> StillRendition {
        var rendition = StillRendition(
            bytesMax: bytesMax(.image), longSideMax: isDisplay ? Limits.displayPictureSidePixelsMax : nil)
        rendition.isRepair = media.damage != nil
        return rendition
    }

    private func animation() -> AnimationRendition {
        AnimationRendition(
            bytesMax: bytesMax(.image), longSideMax: isDisplay ? Limits.displayAnimationSidePixelsMax : nil)
    }

    // MARK: Sounds

    private static let fittingSounds: Set<String> = ["aac", "alac"]

    private func sound() -> SoundRendition {
        let limit = bytesMax(.audio)
        var rendition = SoundRendition(bytesMax: limit, copies: copiesSound(within: limit))
        rendition.completesWave =
            media.containerFault == .samplesNotCounted && bytes < limit && !(isDisplay && isOverRate(bits: bits))
        rendition.bitRateMax = isDisplay ? Limits.displaySoundBitsPerSecondMax : nil
        rendition.isRepair = media.damage != nil
        return rendition
    }

    private func copiesSound(within limit: Int) -> Bool {
        guard media.damage == nil, bytes <= limit, let stream = media.audio.first else { return false }
        return Self.fittingSounds.contains(stream.codec) && !(isDisplay && isOverRate(bits: bits))
    }

    // Bounded: floating point.
    private var bits: Double { Double(bytes) * 8 }

    private func isOverRate(bits: Double) -> Bool {
        let most = Double(Limits.displaySoundBitsPerSecondMax) * Limits.displayRateTolerance
        // Bounded: floating point, which does not trap.
        return bits / max(media.duration ?? 0, 0.001) > most
    }

    // MARK: Movies

    private static let fittingMovieSounds: Set<String> = ["aac", "alac", "mp3", "mp3float", "ac3"]

    /// Whether a movie that is stored turned has to be encoded upright: on request, or since a crop is emitted for it.
    var bakesRotation: Bool {
        media.kind == .movie && media.orientation != .upright
            && (request.options.bakesRotation || request.options.crop != nil)
    }

    func movie() -> MovieRendition {
        let limit = bytesMax(.movie)
        var rendition = MovieRendition(
            bytesMax: limit, copiesVideo: copiesVideo(within: limit), copiesAudio: copiesMovieSound)
        if isDisplay {
            rendition.longSideMax = Limits.displayMovieLongSidePixelsMax
            rendition.shortSideMax = Limits.displayMovieShortSidePixelsMax
            rendition.frameRateMax = Limits.displayFramesPerSecondMax
            rendition.audioBitRateMax = Limits.displaySoundBitsPerSecondMax
        }
        rendition.isRepair = media.damage != nil
        return rendition
    }

    private func copiesVideo(within limit: Int) -> Bool {
        guard let video = media.video, media.damage == nil, !bakesRotation, videoBytes <= limit else { return false }
        if isDisplay, DisplayExcess(media: media, bytes: bytes).movieIsTooLarge { return false }
        return switch video.codec {
        case "h264": video.bitDepth == 8 && video.isChroma420
        case "hevc": video.isChroma420
        default: false
        }
    }

    /// What the pictures take, as far as the sound's rate is known.
    private var videoBytes: Int {
        let rates = media.audio.compactMap(\.bitRate).reduce(0) { $0.adding(clamping: $1) }
        let seconds = max(0, min(media.duration ?? 0, Limits.durationSecondsMax))
        // Bounded: floating point until it is clamped.
        return max(0, bytes.subtracting(clamping: Int(clamping: Double(rates) / 8 * seconds)))
    }

    private var copiesMovieSound: Bool {
        guard media.kind == .movie, media.damage == nil else { return false }
        // A silent movie has nothing that would have to be encoded.
        guard let stream = media.audio.first else { return true }
        let most = Double(Limits.displaySoundBitsPerSecondMax) * Limits.displayRateTolerance
        // Where no header says it, whoever copies it counts.
        if isDisplay, let rate = stream.bitRate, Double(rate) > most { return false }
        return Self.fittingMovieSounds.contains(stream.codec)
    }
}
