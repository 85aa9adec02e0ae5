import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes

/// HEIC, HEIF and AVIF, which are recognized by the brands of their first box. Only AVIF can be an animation.
///
/// Source: ISO/IEC 23008-12; AOMedia, "AV1 Image File Format".
struct HEIFFormat: ImageFormat {
    let format: MediaFormat

    // MARK: Inspection

    /// libheif decodes stills only; a sequence is detected by its brand.
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        guard format == .avif, try AVIFSequenceIndex.isSequence(inspection.window("AVIF")) else {
            return try inspectStill(inspection)
        }
        let sequence = try AVIFSequenceIndex(inspection.source, deadline: inspection.deadline)
        var media = InspectedMedia(format: .avif)
        (media.width, media.height) = (sequence.width, sequence.height)
        media.hasAlpha = sequence.alpha != nil
        media.color = "srgb"
        inspection.describe(
            sequence.delaysMilliseconds, loops: sequence.loopCount, duration: sequence.duration, in: &media)
        try inspection.decodeFrames()
        return media
    }

    /// With the project's own reader where that will decode the file, else with libheif.
    private func inspectStill(_ inspection: ImageInspection) throws -> InspectedMedia {
        let (source, deadline) = (inspection.source, inspection.deadline)
        let window = try inspection.window("HEIF")
        try HEIFReferenceValidator.check(window)
        guard let heif = try FastPath.attempt({ try PlainHEIF(window) }) else { return try inspectLoaded(inspection) }
        try ImageLimits.check(heif, format: format)
        if inspection.request.decodesStills,
            try HEIFDecoder.decode(source: source, format: format, deadline: deadline) == nil
        {
            return try inspectLoaded(inspection)
        }
        var media = inspection.described(width: heif.width, height: heif.height, hasAlpha: heif.hasAlpha)
        media.hasColorProfile = heif.profile != nil
        (media.hasMetadata, media.hasLocation) = try heif.items.metadata()
        return media
    }

    private func inspectLoaded(_ inspection: ImageInspection) throws -> InspectedMedia {
        try inspection.inspect(
            HEIFLoader.open(inspection.source, deadline: inspection.deadline),
            decoding: inspection.request.decodesStills)
    }

    // MARK: Rendering

    /// With libav where the file is plain, else with libvips and libheif.
    func render(with renderer: ImageRenderer) throws -> RenderedMedia {
        let window = try ByteWindow(descriptor: renderer.source, noun: "HEIF", deadline: renderer.deadline)
        try HEIFReferenceValidator.check(window)
        var rendered =
            switch try HEIFDecoder.decode(source: renderer.source, format: format, deadline: renderer.deadline) {
            case .components(let image): try render(image, with: renderer)
            case .pixels(let frame): try renderer.still.render(renderer.upright(frame))
            case nil: try renderer.renderWhole()
            }
        if try HEIFLoader.hasSequence(window) {
            rendered.warnings.append(
                PreparationWarning(
                    .animationLost, "The file also has a sequence of images; only its still image was used."))
        }
        return rendered
    }

    private func render(_ image: PlanarImage, with renderer: ImageRenderer) throws -> RenderedMedia {
        var rendered = try renderer.still.render(image)
        if image.isHalved, rendered.attachment != nil {
            rendered.reductions.insert(
                "the image was reduced to \(image.width) x \(image.height) to fit in memory", at: 0)
        }
        return rendered
    }

    func open(_ source: CInt, pages: Image.Pages, deadline: ContinuousClock.Instant) throws -> Image {
        try HEIFLoader.open(source, deadline: deadline)
    }

    func colors(in window: ByteWindow) throws -> DeclaredColors? { DeclaredColors.heif(window) }

    func animation(_ source: CInt, deadline: ContinuousClock.Instant) throws -> (any AnimationDecoder)? {
        format == .avif ? try AVIFSequenceDecoder(source, deadline: deadline) : nil
    }

    func frameDelays(_ source: CInt, deadline: ContinuousClock.Instant) throws -> [Int] {
        try AVIFSequenceIndex(source, deadline: deadline).delaysMilliseconds
    }
}
