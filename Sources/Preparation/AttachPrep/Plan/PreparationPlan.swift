public import AttachPrepModel
public import MediaEngine
public import MediaTypes

/// What will be done with a file, and why. A pure function of inspection, size and request.
public struct PreparationPlan: Sendable, Hashable {
    /// The expected outcome.
    public internal(set) var outcome: Outcome
    /// The reasons, as sentences for users.
    public internal(set) var reasons: [String]
    /// The steps in order, for `inspect`.
    public internal(set) var steps: [String] = []
    /// The type of a source that is delivered unchanged; nil when the attachment is written.
    public internal(set) var passedType: AttachmentType?
    /// The type under which the source can be delivered unchanged as a fallback; nil when it cannot be.
    public internal(set) var originalType: AttachmentType?
    /// Renders thumbnail and crop, and the attachment when it is a still; nil for audio without a cover.
    public internal(set) var images: RenderRequest?
    /// Renders the attachment when it is a movie, audio or an animation that is written.
    public internal(set) var conversion: RenderRequest?
    /// The size limit for a retry when the attachment cannot be as small as its source; nil for no retry.
    public internal(set) var relaxedBytesMax: Int?
    /// The thumbnail time to emit, if it is known before rendering.
    public internal(set) var thumbnailTime: ThumbnailTime?
    /// Whether the time of the automatically chosen frame is emitted.
    public internal(set) var emitsShownTime = false
    /// Whether the clipping rectangle is emitted.
    public internal(set) var emitsCrop = false
    public internal(set) var warnings: [PreparationWarning] = []
    /// Why the source is rejected; nil when it is not.
    public internal(set) var error: AttachPrepError?

    /// Plans the work for an inspected file.
    public init(media: InspectedMedia, bytes: Int, request: AttachmentRequest) {
        do {
            self = try PreparationPlanner(media: media, bytes: bytes, request: request).plan()
        } catch let error as AttachPrepError {
            self.init(rejecting: error)
        } catch {
            self.init(rejecting: AttachPrepError(.internal, "The file could not be planned.", detail: "\(error)"))
        }
    }

    /// The plan for a rejected source.
    public init(rejecting error: AttachPrepError) {
        self.init(outcome: .rejected, reasons: [error.message])
        self.error = error
    }

    init(outcome: Outcome, reasons: [String]) {
        self.outcome = outcome
        self.reasons = reasons
    }
}

/// Makes a `PreparationPlan`: deliver unchanged, convert, shrink or reject, with the reason.
struct PreparationPlanner {
    let media: InspectedMedia
    let bytes: Int
    let request: AttachmentRequest

    func plan() throws -> PreparationPlan {
        let decision = try AttachmentPlanner(media: media, bytes: bytes, request: request).decision()
        let choice = try ThumbnailPlanner(media: media, request: request).choice()
        var plan = PreparationPlan(outcome: decision.outcome, reasons: [decision.reason])
        plan.warnings = choice.warnings + decision.warnings + delivery(decision).warnings
        plan.steps = PlanSteps(decision: decision, request: request, hasImage: choice.frame != nil).sentences
        plan.passedType = passedType(decision)
        plan.originalType = originalType
        plan.images = images(choice.frame)
        plan.conversion = conversion(decision, frame: choice.frame)
        if case .still = decision.rendition {
            plan.images?.attachment = decision.rendition
            plan.conversion = nil
        }
        plan.relaxedBytesMax = relaxedBytesMax(decision)
        plan.thumbnailTime = isStill(decision) ? nil : choice.emitted
        plan.emitsShownTime = request.options.thumbnailTime == .auto && !isStill(decision) && media.kind != .audio
        plan.emitsCrop = request.options.crop != nil && media.kind != .audio
        return plan
    }

    private func delivery(_ decision: AttachmentDecision) -> DeliveryWarnings {
        let isSource = passedType(decision) != nil
        var isTurned = isSource
        if case .movie(let movie) = decision.rendition { isTurned = movie.copiesVideo }
        return DeliveryWarnings(
            media: media, isSource: isSource, orientation: isTurned ? media.orientation : .upright)
    }

    private func passedType(_ decision: AttachmentDecision) -> AttachmentType? {
        if case .pass(let type) = decision.action { type } else { nil }
    }

    /// The type under which the source can be delivered unchanged when time allows nothing else.
    private var originalType: AttachmentType? {
        guard media.damage == nil, case .attachable(let type) = Attachability(media), bytes <= type.bytesMax,
            request.accepts(type)
        else { return nil }
        return bytes <= request.bytesMax ?? .max ? type : nil
    }

    private func relaxedBytesMax(_ decision: AttachmentDecision) -> Int? {
        guard let rendition = decision.rendition else { return nil }
        let limit = request.bytesMax(for: rendition.kind)
        return rendition.bytesMax < limit ? limit : nil
    }

    private func isStill(_ decision: AttachmentDecision) -> Bool {
        if case .still = decision.rendition { true } else { media.kind == .image && !media.isAnimated }
    }

    // MARK: Renders

    private func images(_ frame: FrameSelection?) -> RenderRequest? {
        guard let frame else { return nil }
        var render = RenderRequest(format: media.format, frameSelection: frame)
        render.thumbnail = request.options.thumbnailBox
        render.crop = media.kind == .audio ? nil : request.options.crop
        render.targets = request.sourceTargets
        return render
    }

    private func conversion(_ decision: AttachmentDecision, frame: FrameSelection?) -> RenderRequest? {
        guard let rendition = decision.rendition else { return nil }
        var render = RenderRequest(format: media.format, frameSelection: frame ?? .still)
        render.attachment = rendition
        return render
    }
}

/// The steps of a plan in order, as sentences for `inspect`. Pure.
struct PlanSteps {
    let decision: AttachmentDecision
    let request: AttachmentRequest
    let hasImage: Bool

    var sentences: [String] {
        var steps: [String] = []
        if hasImage, request.options.crop != nil { steps.append("write the crop at full resolution") }
        if hasImage {
            let options = request.options
            steps.append(
                "write a thumbnail, \(options.thumbnailFit.rawValue) "
                    + "\(options.thumbnailWidth)x\(options.thumbnailHeight)")
        }
        if hasImage { steps += request.targets.renditions.map(Self.sentence) }
        return [attachment] + steps
    }

    private static func sentence(_ target: TargetRendition) -> String {
        "write \(target.key), at most \(target.width)x\(target.height), within \(target.bytesMax.grouped) bytes"
    }

    private var attachment: String {
        switch decision.action {
        case .pass(let type): "deliver the bytes unchanged as attachment.\(type.fileExtension)"
        case .rewrite(.still(let still)):
            "encode the image upright in sRGB as \(still.isJPEGOnly ? "JPEG" : "JPEG or PNG")"
                + within(still.longSideMax, bytes: still.bytesMax)
        case .rewrite(.animation(let animation)) where animation.completesGIF: "copy the GIF and add its trailer"
        case .rewrite(.animation(let animation)):
            "write the animation as GIF" + within(animation.longSideMax, bytes: animation.bytesMax)
        case .rewrite(.audio(let audio)) where audio.completesWave: "copy the samples into a WAV with a complete header"
        case .rewrite(.audio(let audio)):
            Self.stream(audio)
                + within(nil, bytes: audio.bytesMax)
        case .rewrite(.movie(let movie)): Self.streams(movie) + within(movie.longSideMax, bytes: movie.bytesMax)
        }
    }

    private static func stream(_ audio: AudioRendition) -> String {
        switch (audio.format, audio.copies) {
        case (.m4a, true): "copy the audio into an M4A"
        case (.m4a, false): "encode the audio as AAC into an M4A"
        case (.mp3, true): "copy the audio into an MP3"
        case (.mp3, false): "encode the audio as MP3"
        }
    }

    private static func streams(_ movie: MovieRendition) -> String {
        switch (movie.copiesVideo, movie.copiesAudio) {
        case (true, true): "copy the streams into an MP4"
        case (true, false): "copy the video into an MP4, encode the audio as AAC"
        case (false, _): "encode the video as H.264 and the audio as AAC into an MP4"
        }
    }

    private func within(_ side: Int?, bytes: Int) -> String {
        (side.map { ", at most \($0) pixels on the long side" } ?? "") + ", within \(bytes.grouped) bytes"
    }
}

/// Warnings about the file that is delivered. Pure.
struct DeliveryWarnings {
    /// The codes of these warnings.
    static let codes: Set<PreparationWarning.Code> = [.videoRotated, .metadataKept]

    let media: InspectedMedia
    /// Whether the source is delivered byte for byte.
    let isSource: Bool
    /// How the delivered attachment must be rotated for display.
    let orientation: Orientation

    var warnings: [PreparationWarning] {
        var warnings: [PreparationWarning] = []
        if media.kind == .movie, orientation != .upright {
            warnings.append(
                PreparationWarning(
                    .videoRotated,
                    "The movie is stored rotated; a device may draw its thumbnail sideways. Set bakeRotation to encode "
                        + "it upright."))
        }
        if isSource, media.hasLocation {
            warnings.append(
                PreparationWarning(.metadataKept, "The file is delivered unchanged, with its location metadata."))
        }
        return warnings
    }
}
