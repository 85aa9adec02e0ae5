import MediaEngine
import RichPush

/// The step that has everything made, and that makes do with less when the time is short.
///
/// In this order: a cheaper rendition (which the media child decides on the way), no optional rendition, the thumbnail
/// alone as an image, the original as it is if iOS would take it.
struct RenderLadder: Sendable {
    private(set) var plan: PreparationPlan
    let source: FetchedSource
    let engine: any MediaEngine
    let blocking: BlockingLane
    let staging: StagingFolder
    /// When everything has to be on disk.
    let deadline: ContinuousClock.Instant
    /// The thumbnail that came along with the inspection.
    var early: EarlyThumbnail?

    /// - Throws: `deadline.exceeded` when nothing can be delivered in time, and what a render throws for a bad file.
    func run() async throws -> Renditions {
        do {
            return try await attempt()
        } catch let error as AttachPrepError where error.code == .limitExceeded {
            guard let easier = relaxed ?? unchanged else { throw error }
            return try await easier.attempt()
        }
    }

    /// The same where the attachment may be larger than its source after all; nil when that was no bound.
    private var relaxed: RenderLadder? {
        guard let bytesMax = plan.relaxedBytesMax, plan.originalType == nil else { return nil }
        var ladder = self
        ladder.plan.pictures?.attachment = plan.pictures?.attachment?.within(bytesMax: bytesMax)
        ladder.plan.conversion?.attachment = plan.conversion?.attachment?.within(bytesMax: bytesMax)
        return ladder
    }

    /// The source itself where nothing smaller could be made of a still; nil when it cannot be delivered.
    private var unchanged: RenderLadder? {
        guard let type = plan.originalType, plan.conversion == nil else { return nil }
        var ladder = self
        ladder.plan.pictures?.attachment = nil
        ladder.plan.passedType = type
        return ladder
    }

    private func attempt() async throws -> Renditions {
        if let conversion = plan.conversion, conversion.attachment?.isCopy == true {
            return try await copied(conversion)
        }
        var renditions = try await pictures(share: RenderShare.pictures(plan))
        if let type = plan.passedType {
            renditions.delivery = .source(type)
            return renditions
        }
        guard let conversion = plan.conversion else { return try concluded(renditions) }
        do {
            renditions.merge(try await render(resolve(conversion, renditions), share: 1))
            return renditions
        } catch let error as AttachPrepError {
            return try standIn(renditions, instead: error)
        }
    }

    /// A copy is quicker than any picture, so it comes first; a movie that was copied keeps its timeline.
    private func copied(_ conversion: RenderRequest) async throws -> Renditions {
        do {
            var renditions = try await render(conversion, share: RenderShare.copy)
            renditions.merge(try await pictures(share: 1))
            return renditions
        } catch let error as AttachPrepError where error.code == .deadlineExceeded || error.code == .limitExceeded {
            return try standIn(try await pictures(share: 1), instead: error)
        }
    }

    // MARK: Pictures

    private func pictures(share: Double) async throws -> Renditions {
        guard let request = plan.pictures, ContinuousClock.now < deadline else { return Renditions() }
        if let early, early.answers(request) { return try await early.renditions(in: staging, blocking: blocking) }
        do {
            return try await render(request, share: share)
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            var renditions = try await thumbnailAlone(request)
            renditions.degrade("a rendition was left out because the time was short")
            return renditions
        }
    }

    /// Without the crop, without the attachment, and of the picture that is the quickest to have.
    private func thumbnailAlone(_ request: RenderRequest) async throws -> Renditions {
        var less = request
        (less.attachment, less.crop) = (nil, nil)
        switch request.format.kind {
        case .movie: less.picture = .movieTime(0)
        case .image where request.picture != .still: less.picture = .animationFrame(0)
        case .image, .audio: break
        }
        guard less != request, ContinuousClock.now < deadline else { return Renditions() }
        do {
            return try await render(less, share: RenderShare.thumbnailAlone(plan))
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            return Renditions()
        }
    }

    // MARK: The attachment

    /// A picture that was found, or taken for one past the end, is the one whose place in the attachment is asked for.
    private func resolve(_ conversion: RenderRequest, _ renditions: Renditions) -> RenderRequest {
        guard plan.emitsShownTime || plan.warnings.contains(where: { $0.code == .timePastEnd }) else {
            return conversion
        }
        var resolved = conversion
        switch renditions.sourcePosition {
        case .seconds(let seconds): resolved.picture = .movieTime(seconds)
        case .frame(let number): resolved.picture = .animationFrame(number)
        case nil: break
        }
        return resolved
    }

    /// A still is there, or its picture stands for it.
    private func concluded(_ renditions: Renditions) throws -> Renditions {
        guard renditions.attachment == nil else { return renditions }
        return try standIn(renditions, instead: .deadlinePassed(at: "rendering"))
    }

    /// What can be delivered although the attachment could not be made.
    private func standIn(_ pictures: Renditions, instead error: AttachPrepError) throws -> Renditions {
        var renditions = pictures
        switch error.code {
        case .deadlineExceeded: break
        // Nothing smaller than the source could be made of it.
        case .limitExceeded:
            guard let type = plan.originalType else { throw error }
            renditions.concessions.append("nothing smaller than the source could be made of it")
            renditions.delivery = .source(type)
            return renditions
        default: throw error
        }
        if let output = renditions.standIn {
            renditions.degrade("the \(output) is delivered as the attachment because the time was short")
            renditions.delivery = .picture(output)
        } else if let type = plan.originalType {
            renditions.degrade("the source is delivered as it is because the time was short")
            renditions.delivery = .source(type)
        } else {
            throw error
        }
        return renditions
    }

    /// One render within a share of the time that is left.
    private func render(_ request: RenderRequest, share: Double) async throws -> Renditions {
        for output in request.outputs { try staging.remove(RenderStep.workingName(output)) }
        let now = ContinuousClock.now
        guard now < deadline else { throw AttachPrepError.deadlinePassed(at: "rendering") }
        // Bounded: a part of the time to a deadline, which `RequestClock` bounds to a century.
        let timeLeft = now.duration(to: deadline) * share
        let step = RenderStep(
            request: request, source: source.descriptor, engine: engine, blocking: blocking, staging: staging,
            deadline: now.advanced(by: timeLeft))
        return try await step.run()
    }
}
