import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// How an attachment is written: which streams are copied, and within which limits. Pure.
struct RenditionPlanner {
    let media: InspectedMedia
    let bytes: Int
    let request: AttachmentRequest

    private var isDisplay: Bool { request.rendition == .display }

    /// The size limit of the result. For `--rendition display`, nothing becomes larger than its source.
    ///
    /// Except for images that iOS does not accept: JPEG and GIF need several times the bytes of AVIF and WebP. Held to
    /// the source's size, an image of 800 pixels would be reduced to 190.
    private func bytesMax(_ kind: MediaKind) -> Int {
        let limit = request.bytesMax(for: kind)
        guard isDisplay, kind == media.kind else { return limit }
        if kind == .image, case .notAttachable = Attachability(media) { return limit }
        return min(limit, bytes)
    }

    /// The rendition for the kind of media.
    func rendition() -> AttachmentRendition {
        let rendition: AttachmentRendition =
            switch media.kind {
            case .image where media.isAnimated || completesGIF: .animation(animation())
            case .image: .still(still())
            case .audio: .audio(audio())
            case .movie: .movie(movie())
            }
        // Another container may add a few bytes; encoding again to save them would be worse.
        return rendition.isCopy ? rendition.within(bytesMax: request.bytesMax(for: media.kind)) : rendition
    }

    func still() -> StillRendition {
        var rendition = StillRendition(
            bytesMax: bytesMax(.image), longSideMax: isDisplay ? Limits.displayImageSidePixelsMax : nil)
        rendition.isJPEGOnly = !request.accepts(.png)
        rendition.isRepair = media.damage != nil || media.format == .jpeg && media.containerDefect == .trailerMissing
        return rendition
    }

    private func animation() -> AnimationRendition {
        var rendition = AnimationRendition(
            bytesMax: bytesMax(.image), longSideMax: isDisplay ? Limits.displayAnimationSidePixelsMax : nil)
        rendition.completesGIF = completesGIF
        return rendition
    }

    /// Whether a GIF only lacks its trailer.
    private var completesGIF: Bool {
        media.format == .gif && media.containerDefect == .trailerMissing && bytes < request.bytesMax(for: .image)
            && !(isDisplay && DisplayLimitCheck(media: media, bytes: bytes).reason != nil)
    }

    // MARK: Audio

    private var audioFormat: AudioRendition.Format { request.accepts(.mpeg4Audio) ? .m4a : .mp3 }

    private func audio() -> AudioRendition {
        let limit = bytesMax(.audio)
        // An MP3 whose tags are too large loses the tags, not its quality.
        let keepsMP3 = request.accepts(.mp3) && copiesAudioTrack(as: .mp3, within: limit)
        let format = keepsMP3 ? .mp3 : audioFormat
        var rendition = AudioRendition(format, bytesMax: limit, copies: copiesAudioTrack(as: format, within: limit))
        rendition.completesWave =
            media.containerDefect == .samplesNotCounted && bytes < limit && request.accepts(.wave)
            && !(isDisplay && exceedsDisplayBitRate(bits: bits))
        rendition.bitRateMax = isDisplay ? Limits.displayAudioBitsPerSecondMax : nil
        rendition.isRepair = media.damage != nil
        return rendition
    }

    private func copiesAudioTrack(as format: AudioRendition.Format, within limit: Int) -> Bool {
        guard media.damage == nil, audioBytes <= limit, let stream = media.audio.first else { return false }
        let codecs: Set<String> = format == .m4a ? ["aac", "alac"] : ["mp3", "mp3float"]
        return codecs.contains(stream.codec) && PlayableStreams.plays(stream, in: format == .m4a ? .mpeg4Audio : .mp3)
            && !(isDisplay && exceedsDisplayBitRate(bits: bits))
    }

    private var audioBytes: Int { media.audioBytes(in: bytes) }

    private var bits: Double { Double(audioBytes) * 8 }

    private func exceedsDisplayBitRate(bits: Double) -> Bool {
        let most = Double(Limits.displayAudioBitsPerSecondMax) * Limits.displayRateTolerance
        return bits / max(media.duration ?? 0, 0.001) > most
    }

    // MARK: Movies

    /// Whether a movie that is stored rotated must be encoded upright: on request, or because a crop is emitted.
    var bakesRotation: Bool {
        media.kind == .movie && media.orientation != .upright
            && (request.options.bakesRotation || request.options.crop != nil)
    }

    func movie() -> MovieRendition {
        let limit = bytesMax(.movie)
        var rendition = MovieRendition(
            bytesMax: limit, copiesVideo: copiesVideo(within: limit), copiesAudio: copiesMovieAudio)
        if isDisplay {
            rendition.longSideMax = Limits.displayMovieLongSidePixelsMax
            rendition.shortSideMax = Limits.displayMovieShortSidePixelsMax
            rendition.frameRateMax = Limits.displayFramesPerSecondMax
            rendition.audioBitRateMax = Limits.displayAudioBitsPerSecondMax
        }
        rendition.isRepair = media.damage != nil
        return rendition
    }

    private func copiesVideo(within limit: Int) -> Bool {
        guard let video = media.video, media.damage == nil, !bakesRotation, videoBytes <= limit,
            media.containerDefect != .parameterSetsChange
        else { return false }
        if isDisplay, DisplayLimitCheck(media: media, bytes: bytes).movieIsTooLarge { return false }
        return PlayableStreams.plays(video, in: .mpeg4, withTag: false)
    }

    /// The bytes of the video, as far as the bit rate of the audio is known.
    private var videoBytes: Int {
        let rates = media.audio.compactMap(\.bitRate).reduce(0) { $0.adding(clamping: $1) }
        let seconds = max(0, min(media.duration ?? 0, Limits.durationSecondsMax))
        return max(0, bytes.subtracting(clamping: Int(clamping: Double(rates) / 8 * seconds)))
    }

    private var copiesMovieAudio: Bool {
        guard media.kind == .movie, media.damage == nil else { return false }
        // A movie without audio has nothing to encode.
        guard let stream = media.audio.first else { return true }
        let most = Double(Limits.displayAudioBitsPerSecondMax) * Limits.displayRateTolerance
        // Where no header gives a bit rate, the copy step measures it.
        if isDisplay, let rate = stream.bitRate, Double(rate) > most { return false }
        return PlayableStreams.plays(stream, in: .mpeg4)
    }
}
