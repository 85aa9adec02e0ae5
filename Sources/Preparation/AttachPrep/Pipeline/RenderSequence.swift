import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// The render step: makes all renditions, or fewer when the time budget runs short.
///
/// Fallbacks, in this order: a cheaper rendition (which the media process chooses during the render), no optional
/// renditions, the thumbnail as the attachment, the original unchanged if iOS accepts it.
struct RenderSequence: Sendable {
    private(set) var plan: PreparationPlan
    let source: FetchedSource
    let media: InspectedMedia
    let engine: any MediaEngine
    let blocking: BlockingThread
    let staging: StagingFolder
    /// When all files must be on disk.
    let deadline: ContinuousClock.Instant
    /// The thumbnail that was made during the inspection.
    var early: EarlyThumbnail?

    /// - Throws: `deadline.exceeded` when nothing can be delivered in time, and the render's error for an invalid file.
    func run() async throws -> Renditions {
        do {
            return try await attempt()
        } catch let error as AttachPrepError where error.code == .limitExceeded {
            guard let easier = relaxed ?? unchanged else { throw error }
            return try await easier.attempt()
        }
    }

    /// A retry in which the attachment may be larger than its source; nil when the source's size was not the limit.
    private var relaxed: RenderSequence? {
        guard let bytesMax = plan.relaxedBytesMax, plan.originalType == nil else { return nil }
        var ladder = self
        ladder.plan.images?.attachment = plan.images?.attachment?.within(bytesMax: bytesMax)
        ladder.plan.conversion?.attachment = plan.conversion?.attachment?.within(bytesMax: bytesMax)
        return ladder
    }

    /// A retry that delivers a still unchanged because nothing smaller could be made; nil when it cannot be delivered.
    private var unchanged: RenderSequence? {
        guard let type = plan.originalType, plan.conversion == nil else { return nil }
        var ladder = self
        ladder.plan.images?.attachment = nil
        ladder.plan.passedType = type
        return ladder
    }

    private func attempt() async throws -> Renditions {
        if let conversion = plan.conversion, conversion.attachment?.isCopy == true {
            return try await copied(conversion)
        }
        var renditions = try await images(share: RenderTimeShare.images(plan))
        if let type = plan.passedType {
            renditions.delivery = .source(type)
            return renditions
        }
        guard let conversion = plan.conversion else { return try concluded(renditions) }
        do {
            renditions.merge(try await render(resolve(conversion, renditions: renditions), share: 1))
            return renditions
        } catch let error as AttachPrepError {
            return try fallback(renditions, instead: error)
        }
    }

    /// Copies first, since a copy is faster than any image; a copied movie keeps its timeline.
    private func copied(_ conversion: RenderRequest) async throws -> Renditions {
        do {
            var renditions = try await render(conversion, share: RenderTimeShare.copy)
            renditions.merge(try await images(share: 1))
            return renditions
        } catch let error as AttachPrepError where error.code == .deadlineExceeded || error.code == .limitExceeded {
            return try fallback(try await images(share: 1), instead: error)
        }
    }

    // MARK: Images

    private func images(share: Double) async throws -> Renditions {
        guard let request = plan.images, ContinuousClock.now < deadline else { return Renditions() }
        if let early, early.matches(request) { return try await early.renditions(in: staging, blocking: blocking) }
        do {
            return try await render(request, share: share)
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            var renditions = try await thumbnailAlone(request)
            renditions.markDegraded("a rendition was left out because the time budget ran short")
            return renditions
        }
    }

    /// The thumbnail only, without crop, attachment and targets, of the frame that is fastest to decode.
    private func thumbnailAlone(_ request: RenderRequest) async throws -> Renditions {
        var less = request
        (less.attachment, less.crop, less.targets) = (nil, nil, [])
        switch request.format.kind {
        case .movie: less.frameSelection = .movieTime(0)
        case .image where request.frameSelection != .still: less.frameSelection = .animationFrame(0)
        case .image, .audio: break
        }
        guard less != request, ContinuousClock.now < deadline else { return Renditions() }
        do {
            return try await render(less, share: RenderTimeShare.thumbnailAlone(plan))
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            return Renditions()
        }
    }

    // MARK: The attachment

    /// Fixes the frame that the images show, so that the conversion can report its position in the attachment.
    private func resolve(_ conversion: RenderRequest, renditions: Renditions) -> RenderRequest {
        guard plan.emitsShownTime || plan.warnings.contains(where: { $0.code == .timePastEnd }) else {
            return conversion
        }
        var resolved = conversion
        switch renditions.sourcePosition {
        case .seconds(let seconds): resolved.frameSelection = .movieTime(seconds)
        case .frame(let number): resolved.frameSelection = .animationFrame(number)
        case nil: break
        }
        return resolved
    }

    /// Returns the renditions if the still attachment was written, else the fallback.
    private func concluded(_ renditions: Renditions) throws -> Renditions {
        guard renditions.attachment == nil else { return renditions }
        return try fallback(renditions, instead: .deadlinePassed(at: "rendering"))
    }

    /// The fallback when the attachment could not be made.
    private func fallback(_ images: Renditions, instead error: AttachPrepError) throws -> Renditions {
        var renditions = images
        switch error.code {
        case .deadlineExceeded: break
        // No file smaller than the source could be made.
        case .limitExceeded:
            guard let type = plan.originalType else { throw error }
            renditions.reductions.append("no smaller file than the source could be made")
            renditions.delivery = .source(type)
            return renditions
        default: throw error
        }
        if let output = renditions.fallback {
            renditions.markDegraded("the \(output) is delivered as the attachment because the time budget ran short")
            renditions.delivery = .image(output)
        } else if let type = plan.originalType {
            renditions.markDegraded("the source is delivered unchanged because the time budget ran short")
            renditions.delivery = .source(type)
        } else {
            throw error
        }
        return renditions
    }

    /// Renders within `share` of the remaining time.
    private func render(_ request: RenderRequest, share: Double) async throws -> Renditions {
        for output in request.outputs { try staging.remove(RenderStep.workingName(output)) }
        let now = ContinuousClock.now
        guard now < deadline else { throw AttachPrepError.deadlinePassed(at: "rendering") }
        let secondsMax = EncodingTime.secondsMax(request, media: media, bytes: source.bytes)
        let timeLeft = min(now.duration(to: deadline) * share, .seconds(clamping: secondsMax ?? .infinity))
        let step = RenderStep(
            request: request, source: source.descriptor, engine: engine, blocking: blocking, staging: staging,
            deadline: now.advanced(by: timeLeft))
        return try await step.run()
    }
}

/// The share of the remaining time that a render may take, so that time is left for its fallback. Pure.
enum RenderTimeShare {
    /// Thumbnail, crop and a still attachment.
    static func images(_ plan: PreparationPlan) -> Double {
        // The movie or audio that is encoded afterwards needs most of the time.
        if plan.conversion != nil { return 0.4 }
        // There is no cheaper fallback than a thumbnail alone.
        return plan.images?.outputs == [.thumbnail] ? 1 : 0.85
    }

    /// Streams that are copied; the rest is for a thumbnail when the disk is slow.
    static let copy = 0.85

    /// The thumbnail alone, after all images together took too long.
    static func thumbnailAlone(_ plan: PreparationPlan) -> Double { plan.conversion != nil ? 0.9 : 1 }
}
