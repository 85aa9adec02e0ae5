import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// Chooses the frame that a thumbnail shows, and the time to emit for it.
struct ThumbnailPlanner {
    let media: InspectedMedia
    let request: AttachmentRequest

    /// The chosen frame and time.
    struct Choice: Hashable {
        /// Nil for audio without a cover.
        var frame: FrameSelection?
        /// The time to emit; nil unless the request has one.
        var emitted: ThumbnailTime?
        var warnings: [PreparationWarning] = []
    }

    func choice() throws -> Choice {
        switch (media.kind, request.options.thumbnailTime) {
        case (.audio, _): Choice(frame: media.hasCoverArt ? .coverArt : nil)
        case (.image, _) where !media.isAnimated: Choice(frame: .still)
        case (_, .auto): Choice(frame: media.kind == .movie && media.video == nil ? nil : .representative)
        case (.image, .at(let time)): try animation(at: time)
        case (.image, nil): Choice(frame: .animationFrame(defaultFrame))
        case (.movie, .at(let time)): movie(at: time)
        case (.movie, nil): media.video == nil ? Choice() : Choice(frame: .movieTime((media.duration ?? 0) / 2))
        }
    }

    /// The frame that iOS shows by default: the middle one, rounded down; the first of an animation made a still.
    private var defaultFrame: Int { request.options.animation == .still ? 0 : (media.frames ?? 1) / 2 }

    private func animation(at time: Double) throws -> Choice {
        let frames = max(1, media.frames ?? 1)
        let last = frames.subtracting(clamping: 1)
        guard let number = Int(exactly: time) else {
            throw AttachPrepError(
                .optionsInvalidTime,
                "The thumbnail time \(time) is not a frame number; for this animation give 0 to \(last).")
        }
        guard number >= frames else {
            return Choice(frame: .animationFrame(number), emitted: .frame(number))
        }
        return Choice(
            frame: .animationFrame(last), emitted: .frame(last),
            warnings: [pastEnd("frame \(number)", taken: "the animation's last frame, \(last)")])
    }

    private func movie(at time: Double) -> Choice {
        guard let video = media.video else { return Choice() }
        let end = max(media.duration ?? 0, video.lastFrameTime)
        guard time > end else {
            return Choice(frame: .movieTime(time), emitted: .movie(MovieTime(seconds: time, before: end)))
        }
        // The decoder returns the last frame, and provides a more exact time than the container.
        return Choice(
            frame: .movieTime(end), emitted: .movie(MovieTime(seconds: video.lastFrameTime)),
            warnings: [pastEnd("\(time) s", taken: "the movie's last frame")])
    }

    private func pastEnd(_ requested: String, taken: String) -> PreparationWarning {
        PreparationWarning(.timePastEnd, "The thumbnail time \(requested) is past the end; it shows \(taken).")
    }
}

extension RequestOptions {
    /// What a media process needs to make the thumbnail: of the plan, and of its prediction, which must be equal.
    var thumbnailBox: ThumbnailRendition {
        ThumbnailRendition(width: thumbnailWidth, height: thumbnailHeight, fit: thumbnailFit)
    }
}

/// Predicts the thumbnail that the plan will need when only the format is known, so that it is made with the inspection
/// and needs no call of its own. Pure.
struct ThumbnailPrediction {
    /// The format that identification found.
    let format: MediaFormat?
    let bytes: Int
    let request: AttachmentRequest

    /// Nil when it cannot be predicted, or when the source will probably be rejected or converted.
    var thumbnail: ExpectedThumbnail? {
        switch format?.kind {
        case .movie: movieThumbnail
        // A larger one may be decoded while it downloads.
        case .image where bytes < Limits.earlySourceBytesMin:
            render.flatMap { render in
                render.thumbnail.map { ExpectedThumbnail(box: $0, targets: render.targets, seconds: nil) }
            }
        default: nil
        }
    }

    /// The render of a JPEG or PNG that is delivered unchanged and needs exactly this one; nil for all others.
    var render: RenderRequest? {
        guard let format, [.jpeg, .png].contains(format) else { return nil }
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (1, 1, 1)
        let plan = PreparationPlan(media: media, bytes: bytes, request: request)
        guard plan.passedType != nil, plan.conversion == nil, let images = plan.images,
            images.attachment == nil, images.crop == nil
        else { return nil }
        return images
    }

    private var movieThumbnail: ExpectedThumbnail? {
        let options = request.options
        guard options.crop == nil, !isTooLarge else { return nil }
        let box = options.thumbnailBox
        switch options.thumbnailTime {
        case .at(let seconds): return ExpectedThumbnail(box: box, targets: request.sourceTargets, seconds: seconds)
        case .auto: return nil
        case nil: return ExpectedThumbnail(box: box, targets: request.sourceTargets, seconds: nil)
        }
    }

    private var isTooLarge: Bool { request.oversize == .reject && bytes > request.bytesMax(for: .movie) }
}
