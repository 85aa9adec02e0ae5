import MediaEngine
import RichPush

/// The table behind `PreparationPlan`: pass through, convert, shrink or refuse, each with its reason.
struct PlanDecision {
    let media: InspectedMedia
    let bytes: Int
    let request: AttachmentRequest

    func plan() throws -> PreparationPlan {
        let course = try CourseDecision(media: media, bytes: bytes, request: request).course()
        let choice = try PictureDecision(media: media, request: request).choice()
        var plan = PreparationPlan(outcome: course.outcome, reasons: [course.reason])
        // Bounded: lists.
        plan.warnings = choice.warnings + course.warnings + delivery(course).warnings
        plan.steps = PlanSteps(course: course, request: request, hasPicture: choice.picture != nil).sentences
        plan.passedType = passedType(course)
        plan.originalType = originalType
        plan.pictures = pictures(choice.picture)
        plan.conversion = conversion(course, choice.picture)
        if case .still = course.rendition {
            plan.pictures?.attachment = course.rendition
            plan.conversion = nil
        }
        plan.relaxedBytesMax = relaxedBytesMax(course)
        plan.thumbnailTime = isStill(course) ? nil : choice.emitted
        plan.emitsShownTime = request.options.thumbnailTime == .auto && !isStill(course) && media.kind != .audio
        plan.emitsCrop = request.options.crop != nil && media.kind != .audio
        return plan
    }

    private func delivery(_ course: Course) -> DeliveryWarnings {
        let isSource = passedType(course) != nil
        var isTurned = isSource
        if case .movie(let movie) = course.rendition { isTurned = movie.copiesVideo }
        return DeliveryWarnings(
            media: media, isSource: isSource, orientation: isTurned ? media.orientation : .upright)
    }

    private func passedType(_ course: Course) -> AttachmentType? {
        if case .pass(let type) = course.direction { type } else { nil }
    }

    /// As what the source could be delivered unchanged if nothing else can be had in time.
    private var originalType: AttachmentType? {
        guard media.damage == nil, case .native(let type) = Attachability(media), bytes <= type.bytesMax else {
            return nil
        }
        return bytes <= request.bytesMax ?? .max ? type : nil
    }

    private func relaxedBytesMax(_ course: Course) -> Int? {
        guard let rendition = course.rendition else { return nil }
        let limit = request.bytesMax(for: rendition.kind)
        return rendition.bytesMax < limit ? limit : nil
    }

    private func isStill(_ course: Course) -> Bool {
        if case .still = course.rendition { true } else { media.kind == .image && !media.isAnimated }
    }

    // MARK: Renders

    private func pictures(_ picture: PictureChoice?) -> RenderRequest? {
        guard let picture else { return nil }
        var render = RenderRequest(format: media.format, picture: picture)
        let options = request.options
        render.thumbnail = ThumbnailRendition(
            width: options.thumbnailWidth, height: options.thumbnailHeight, fit: options.thumbnailFit)
        render.crop = media.kind == .audio ? nil : options.crop
        return render
    }

    private func conversion(_ course: Course, _ picture: PictureChoice?) -> RenderRequest? {
        guard let rendition = course.rendition else { return nil }
        var render = RenderRequest(format: media.format, picture: picture ?? .still)
        render.attachment = rendition
        return render
    }
}
