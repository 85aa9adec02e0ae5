import MediaEngine
import RichPush
import SafeArithmetic

/// Which picture of the source its thumbnail shows, and what time to emit for it.
struct PictureDecision {
    let media: InspectedMedia
    let request: AttachmentRequest

    /// The answer.
    struct Choice: Hashable {
        /// Nil for sound without a cover.
        var picture: PictureChoice?
        /// Nil unless a time was asked for.
        var emitted: ThumbnailTime?
        var warnings: [PreparationWarning] = []
    }

    func choice() throws -> Choice {
        switch (media.kind, request.options.thumbnailTime) {
        case (.audio, _): Choice(picture: media.hasCoverArt ? .coverArt : nil)
        case (.image, _) where !media.isAnimated: Choice(picture: .still)
        case (_, .auto): Choice(picture: media.kind == .movie && media.video == nil ? nil : .representative)
        case (.image, .at(let time)): try animation(at: time)
        case (.image, nil): Choice(picture: .animationFrame(unaskedFrame))
        case (.movie, .at(let time)): movie(at: time)
        case (.movie, nil): media.video == nil ? Choice() : Choice(picture: .movieTime((media.duration ?? 0) / 2))
        }
    }

    /// The frame a device takes, half of them rounded down; of an animation that becomes a still, its first.
    private var unaskedFrame: Int { request.options.animation == .still ? 0 : (media.frames ?? 1) / 2 }

    private func animation(at time: Double) throws -> Choice {
        let frames = max(1, media.frames ?? 1)
        let last = frames.subtracting(clamping: 1)
        guard let number = Int(exactly: time) else {
            throw AttachPrepError(
                .optionsInvalidTime,
                "The thumbnail time \(time) is not a frame number, which an animation needs; give 0 to \(last).")
        }
        guard number >= frames else {
            return Choice(picture: .animationFrame(number), emitted: .frame(number))
        }
        return Choice(
            picture: .animationFrame(last), emitted: .frame(last),
            warnings: [pastEnd("frame \(number)", "the animation's last frame, \(last)")])
    }

    private func movie(at time: Double) -> Choice {
        guard let video = media.video else { return Choice() }
        let end = max(media.duration ?? 0, video.lastFrameTime)
        guard time > end else {
            return Choice(picture: .movieTime(time), emitted: .movie(MovieTime(seconds: time)))
        }
        // At the end the decoder takes the last frame, and knows its time better than the container does.
        return Choice(
            picture: .movieTime(end), emitted: .movie(MovieTime(seconds: video.lastFrameTime)),
            warnings: [pastEnd("\(time) s", "the movie's last frame")])
    }

    private func pastEnd(_ asked: String, _ taken: String) -> PreparationWarning {
        PreparationWarning(.timePastEnd, "The thumbnail time \(asked) is past the end; it shows \(taken).")
    }
}
