import MediaEngine
import RichPush

/// The table behind `PreparationPlan`: pass through, convert, shrink or refuse, each with its reason.
struct PlanDecision {
    let media: InspectedMedia
    let bytes: Int
    let request: AttachmentRequest

    /// What becomes of the file itself.
    private enum Course {
        case pass(AttachmentType, reason: String)
        case rewrite(Outcome, reason: String)
    }

    func plan() throws -> PreparationPlan {
        let course = try course()
        let choice = try PictureDecision(media: media, request: request).choice()
        let render = render(course, choice.picture)
        return PreparationPlan(
            outcome: outcome(course), reasons: [reason(course)], steps: steps(course, render),
            passedType: passedType(course), render: render, thumbnailTime: choice.emitted,
            clippingRect: try clippingRect(course), warnings: choice.warnings + warnings(course), error: nil)
    }

    // MARK: The file

    private func course() throws -> Course {
        let limit = request.bytesMax(for: media.kind)
        switch Attachability(media) {
        case .native(let type) where bytes <= limit:
            return .pass(
                type, reason: "\(type.mimeType) is attachable and \(bytes.grouped) bytes are within \(limit.grouped)")
        case .native(let type): return try oversize(type, limit: limit)
        case .foreign(let reason): return try convert(reason)
        }
    }

    private func oversize(_ type: AttachmentType, limit: Int) throws -> Course {
        let over = "The \(media.kind.rawValue) is \(bytes.grouped) bytes, over the limit of \(limit.grouped)"
        guard request.oversize == .shrink else {
            throw AttachPrepError(.limitExceeded, "\(over); allow --oversize shrink or send a smaller file.")
        }
        guard media.kind == .image, !media.isAnimated else {
            throw AttachPrepError(.limitExceeded, "\(over), and it is not a still picture that could be shrunk.")
        }
        return .rewrite(.shrunk, reason: "\(bytes.grouped) bytes are over the limit of \(limit.grouped)")
    }

    private func convert(_ reason: String) throws -> Course {
        guard request.unsupported == .convert else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The source cannot be attached as it is (\(reason)); allow --unsupported convert or send another type.")
        }
        guard media.kind == .image, !media.isAnimated else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The source would need conversion (\(reason)), and this version converts still pictures only; send an "
                    + "attachable type.")
        }
        return .rewrite(.converted, reason: reason)
    }

    private func outcome(_ course: Course) -> Outcome {
        switch course {
        case .pass: .passed
        case .rewrite(let outcome, _): outcome
        }
    }

    private func reason(_ course: Course) -> String {
        switch course {
        case .pass(_, let reason), .rewrite(_, let reason): reason
        }
    }

    private func passedType(_ course: Course) -> AttachmentType? {
        if case .pass(let type, _) = course { type } else { nil }
    }

    // MARK: The pictures beside it

    private func render(_ course: Course, _ picture: PictureChoice?) -> RenderRequest? {
        guard let picture else { return nil }
        var render = RenderRequest(format: media.format, picture: picture)
        if case .rewrite = course {
            render.attachment = .still(StillRendition(bytesMax: request.bytesMax(for: .image)))
        }
        let options = request.options
        render.thumbnail = ThumbnailRendition(
            width: options.thumbnailWidth, height: options.thumbnailHeight, fit: options.thumbnailFit)
        render.crop = media.kind == .audio ? nil : options.crop.map { .part($0) }
        return render
    }

    /// A movie is delivered unturned, so its rectangle is turned back; a still that is written anew stands upright.
    private func clippingRect(_ course: Course) throws -> ClippingRect? {
        guard let rect = request.options.crop, media.kind != .audio else { return nil }
        return media.kind == .movie ? try media.orientation.storedRect(ofUpright: rect) : rect
    }

    private func warnings(_ course: Course) -> [PreparationWarning] {
        var warnings: [PreparationWarning] = []
        if media.kind == .movie, media.orientation != .upright {
            warnings.append(
                PreparationWarning(
                    .videoRotated, "The movie is stored turned; a device may draw its thumbnail sideways."))
        }
        if case .pass = course, media.hasLocation {
            warnings.append(
                PreparationWarning(
                    .metadataKept, "The file is delivered unchanged and says where it was taken."))
        }
        return warnings
    }

    private func steps(_ course: Course, _ render: RenderRequest?) -> [String] {
        var steps: [String] = []
        switch course {
        case .pass(let type, _): steps.append("deliver the bytes unchanged as attachment.\(type.fileExtension)")
        case .rewrite: steps.append("write the picture anew, upright and in sRGB, as JPEG or, if transparent, PNG")
        }
        if render?.crop != nil { steps.append("write the crop at full resolution") }
        if let box = render?.thumbnail {
            steps.append("write a thumbnail, \(box.fit.rawValue) \(box.width)x\(box.height)")
        }
        return steps
    }
}
