import AttachPrepModel
import MediaEngine
import MediaTypes

/// The last step before the publish target's: gives the files their final names and completes the manifest.
struct PublishStep: Sendable {
    let rendered: RenderedSource
    let request: AttachmentRequest
    let target: any PublishTarget
    let staging: StagingFolder

    private var plan: PreparationPlan { rendered.plan }
    private var media: InspectedMedia { rendered.media }
    private var source: FetchedSource { rendered.source }
    private var renditions: Renditions { rendered.renditions }

    /// Renames the files and returns the completed manifest.
    func complete(_ manifest: Manifest) throws -> Manifest {
        var manifest = manifest
        manifest.outcome = outcome
        manifest.reasons = plan.reasons + renditions.reductions
        manifest.warnings = warnings
        let attachment = try attachment(id: manifest.id)
        manifest.attachment = attachment
        manifest.thumbnail = try image(renditions.thumbnail, output: .thumbnail, id: manifest.id)
        manifest.crop = try image(renditions.crop, output: .crop, id: manifest.id)
        manifest.renditions = try targetFiles(id: manifest.id)
        manifest.options = AttachmentOptions(
            typeHint: attachment.uti, thumbnailHidden: request.options.thumbnailHidden,
            thumbnailClippingRect: try emittedRect, thumbnailTime: emittedTime)
        manifest.deviceFetch = NetworkProfile.deviceFetch(bytes: attachment.bytes)
        let outputs = RenderOutput.own + request.targets.renditions.map { .target($0.key) }
        let working = outputs.map(RenderStep.workingName) + [SourceFile.name, AvatarStep.sourceName]
        for name in working { try staging.remove(name) }
        return request.seal ? try ResultSealing(staging: staging, target: target).seal(manifest) : manifest
    }

    // MARK: Outcome and warnings

    private var outcome: Outcome {
        if renditions.isDegraded { return .bestAttempt }
        if case .source = renditions.delivery { return .passed }
        return plan.outcome
    }

    private var warnings: [PreparationWarning] {
        let planned = plan.warnings.filter { !DeliveryWarnings.codes.contains($0.code) }
        let isSource = if case .source = renditions.delivery { true } else { false }
        let delivery = DeliveryWarnings(media: media, isSource: isSource, orientation: orientation)
        let missing = MissingTargets(
            request.targets.renditions.map(\.key), renditions: renditions, kind: media.kind,
            hasImage: plan.images != nil)
        return planned + renditions.warnings + delivery.warnings + missing.warnings
    }

    /// The orientation in which the delivered attachment is stored.
    private var orientation: Orientation {
        switch renditions.delivery {
        case .source: media.kind == .movie ? media.orientation : .upright
        case .written: renditions.attachment?.rendered.orientation ?? .upright
        case .image: .upright
        }
    }

    // MARK: Files

    private func attachment(id: String) throws -> ManifestFile {
        var file =
            switch renditions.delivery {
            case .source(let type): try sourceFile(type)
            case .written: try writtenFile()
            case .image(let output): try imageFile(output)
            }
        file.url = target.url(of: PublishedFile(name: file.file, sha256: file.sha256), in: id, layout: target.layout)
        return file
    }

    private func sourceFile(_ type: AttachmentType) throws -> ManifestFile {
        var file = ManifestFile(
            file: "attachment.\(type.fileExtension)", type: type, bytes: source.bytes, sha256: source.sha256)
        (file.width, file.height) = (media.width, media.height)
        file.frames = type.kind == .image ? media.frames ?? 1 : nil
        file.duration = media.duration
        try staging.rename(SourceFile.name, to: file.file)
        return file
    }

    private func writtenFile() throws -> ManifestFile {
        guard let written = renditions.attachment else {
            throw AttachPrepError(.internal, "The attachment was not written.")
        }
        let rendered = written.rendered
        var file = ManifestFile(
            file: "attachment.\(rendered.type.fileExtension)", type: rendered.type, bytes: rendered.bytes,
            sha256: written.sha256)
        (file.width, file.height, file.frames) = (rendered.width, rendered.height, rendered.frames)
        file.duration = rendered.duration
        try staging.rename(RenderStep.workingName(.attachment), to: file.file)
        return file
    }

    /// Copies the image, which also remains under its own name as thumbnail or crop.
    private func imageFile(_ output: RenderOutput) throws -> ManifestFile {
        guard let image = output == .crop ? renditions.crop : renditions.thumbnail else {
            throw AttachPrepError(.internal, "The image that replaces the attachment was not written.")
        }
        let rendered = image.rendered
        var file = ManifestFile(
            file: "attachment.\(rendered.type.fileExtension)", type: rendered.type, bytes: rendered.bytes,
            sha256: image.sha256)
        (file.width, file.height, file.frames) = (rendered.width, rendered.height, 1)
        try staging.copy(RenderStep.workingName(output), to: file.file)
        return file
    }

    private func image(_ file: Renditions.File<RenderedImage>?, output: RenderOutput, id: String) throws
        -> ManifestImage?
    {
        guard let file else { return nil }
        let name = "\(output).\(file.rendered.type.fileExtension)"
        try staging.rename(RenderStep.workingName(output), to: name)
        var image = ManifestImage(
            file: name, mimeType: file.rendered.type.mimeType, bytes: file.rendered.bytes, sha256: file.sha256,
            width: file.rendered.width, height: file.rendered.height, isTimed: output == .thumbnail,
            time: output == .thumbnail ? shownTime : nil)
        image.url = target.url(
            of: PublishedFile(name: name, sha256: file.sha256), in: id, layout: target.layout)
        return image
    }

    /// The pictures for other systems; nil when the request names no such system.
    private func targetFiles(id: String) throws -> [String: ManifestRendition]? {
        guard !request.targets.renditions.isEmpty else { return nil }
        var files: [String: ManifestRendition] = [:]
        for target in request.targets.renditions {
            guard let picture = renditions.targets[target.key] else { continue }
            let rendered = picture.rendered
            let name = "\(target.key).\(rendered.type.fileExtension)"
            try staging.rename(RenderStep.workingName(.target(target.key)), to: name)
            var file = ManifestRendition(
                file: name, type: rendered.type.mimeType, bytes: rendered.bytes, sha256: picture.sha256,
                width: rendered.width, height: rendered.height)
            file.url = self.target.url(
                of: PublishedFile(name: name, sha256: picture.sha256), in: id, layout: self.target.layout)
            files[target.key] = file
        }
        return files
    }

    /// The time to emit, in the attachment's own timeline; nil for a still.
    private var emittedTime: ThumbnailTime? {
        switch renditions.delivery {
        case .image: nil
        // An attachment whose streams were copied keeps the source's timeline.
        case .written where isTimeWanted:
            (renditions.attachmentPosition ?? renditions.sourcePosition).map {
                ThumbnailTime($0, before: renditions.attachment?.rendered.duration)
            }
        // For a time past the end, the time of the frame shown instead is emitted.
        case .source where isTimeWanted && (isPastEnd || plan.emitsShownTime):
            renditions.sourcePosition.map { ThumbnailTime($0, before: media.duration) } ?? plan.thumbnailTime
        case .source, .written: plan.thumbnailTime
        }
    }

    private var isTimeWanted: Bool { plan.thumbnailTime != nil || plan.emitsShownTime }
    private var isPastEnd: Bool { plan.warnings.contains { $0.code == .timePastEnd } }

    /// The clipping rectangle to emit, in the attachment's stored orientation.
    private var emittedRect: ClippingRect? {
        get throws {
            if case .image = renditions.delivery { return nil }
            var requested: ClippingRect?
            if case .part(let rect) = request.options.crop { requested = rect }
            guard plan.emitsCrop, let rect = renditions.clippingRect ?? requested else { return nil }
            return try AttachPrepError.converting { try orientation.storedRect(ofUpright: rect) }
        }
    }

    /// Time of the frame shown: seconds of a movie, frame number of an animation.
    private var shownTime: Double? {
        switch renditions.sourcePosition {
        case .seconds(let seconds): seconds
        case .frame(let number): Double(number)
        case nil: nil
        }
    }
}

extension ThumbnailTime {
    /// The time to emit for this position.
    fileprivate init(_ position: MediaPosition, before end: Double?) {
        self =
            switch position {
            case .seconds(let seconds): .movie(MovieTime(seconds: seconds, before: end))
            case .frame(let number): .frame(number)
            }
    }
}
