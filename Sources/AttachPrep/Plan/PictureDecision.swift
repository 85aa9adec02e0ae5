import MediaEngine
import RichPush

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
        switch media.kind {
        case .image: media.format == .gif && media.isAnimated ? try animation() : Choice(picture: .still)
        case .audio: Choice(picture: media.hasCoverArt ? .coverArt : nil)
        case .movie: movie()
        }
    }

    /// Without a time, the frame a device takes: half of them, rounded down.
    private func animation() throws -> Choice {
        let frames = media.frames ?? 1
        guard let asked = request.options.thumbnailTime else { return Choice(picture: .animationFrame(frames / 2)) }
        guard let number = Int(exactly: asked) else {
            throw AttachPrepError(
                .optionsInvalidTime,
                "The thumbnail time \(asked) is not a frame number, which an animation needs; give 0 to \(frames - 1).")
        }
        guard number >= frames else {
            return Choice(picture: .animationFrame(number), emitted: .frame(number))
        }
        let last = frames - 1
        return Choice(
            picture: .animationFrame(last), emitted: .frame(last),
            warnings: [pastEnd("frame \(number)", "the animation's last frame, \(last)")])
    }

    /// Without a time, half the duration.
    private func movie() -> Choice {
        let duration = media.duration ?? 0
        guard let video = media.video else { return Choice() }
        guard let asked = request.options.thumbnailTime else { return Choice(picture: .movieTime(duration / 2)) }
        let end = max(duration, video.lastFrameTime)
        guard asked > end else {
            return Choice(picture: .movieTime(asked), emitted: .movie(MovieTime(seconds: asked)))
        }
        // At the end the decoder takes the last frame, and knows its time better than the container does.
        return Choice(
            picture: .movieTime(end), emitted: .movie(MovieTime(seconds: video.lastFrameTime)),
            warnings: [pastEnd("\(asked) s", "the movie's last frame")])
    }

    private func pastEnd(_ asked: String, _ taken: String) -> PreparationWarning {
        PreparationWarning(.timePastEnd, "The thumbnail time \(asked) is past the end; it shows \(taken).")
    }
}
