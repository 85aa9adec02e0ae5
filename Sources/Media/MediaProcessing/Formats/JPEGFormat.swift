import MediaEngine
import MediaLibraries
import MediaTypes

/// Source: ITU-T T.81; T.871 for JFIF.
struct JPEGFormat: ImageFormat {
    // MARK: Inspection

    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        let header = try? JPEGSegments.parseHeader(inspection.window("JPEG"))
        try header?.requireSupported()
        var media = try inspectDecodable(inspection)
        if let header, header.isArithmetic || !header.hasHuffmanTables {
            media.containerDefect = media.containerDefect ?? .rareCoding
        }
        return media
    }

    private func inspectDecodable(_ inspection: ImageInspection) throws -> InspectedMedia {
        let decodes = inspection.request.decodesStills
        // A file that cannot be parsed may still decode.
        let segments = try? JPEGSegments.parse(inspection.window("JPEG"))
        if !decodes, let plain = segments.flatMap(PlainJPEG.init) {
            try plain.check()
            return plain.inspected
        }
        if decodes { try checkHeader(inspection) }
        // A damaged JPEG is described by its header; its pixels are decoded by the repair.
        let defect = decodes ? try StillValidator.defect(ofJPEG: inspection.source) : nil
        var media = try inspection.inspectStill(decoding: defect == nil && decodes)
        media.hasMetadata = segments?.hasMetadata ?? true
        switch defect {
        case .damage(let damage): media.damage = damage
        case .endMissing: media.containerDefect = .trailerMissing
        case nil: break
        }
        return media
    }

    /// Checks limits before anything is decoded: libjpeg holds all coefficients of a progressive JPEG in memory.
    private func checkHeader(_ inspection: ImageInspection) throws {
        // A file that cannot be parsed may still decode.
        guard let header = try? JPEGSegments.parseHeader(inspection.window("JPEG")) else { return }
        try ImageLimits.check(width: header.width, height: header.height, format: .jpeg)
        _ = try DecodingMemory.coefficientBytes(header)
    }

    // MARK: Rendering

    var isReducedWhileDecoding: Bool { true }

    /// An attachment for a display needs no more pixels than the targets.
    func render(with renderer: ImageRenderer) throws -> RenderedMedia {
        let request = renderer.request
        guard request.crop == nil, case .still(let still) = request.attachment, still.longSideMax != nil else {
            return try renderer.validateAndRender()
        }
        return try renderReduced(with: renderer, nil) ?? renderer.validateAndRender()
    }

    func renderReduced(with renderer: ImageRenderer, _ download: DownloadingFile?) throws -> RenderedMedia? {
        let request = renderer.request
        guard let jpeg = try JPEGThumbnailer(source: renderer.source, deadline: renderer.deadline),
            case let colors = try jpeg.colors(),
            let image = try jpeg.image(for: request, colors: colors, download: download)
        else { return nil }
        if case .managed(let profile) = colors {
            let managed = try Image.wrap(
                pixels: image.isGray ? image.luma : image.rgb, width: image.width, height: image.height,
                bands: image.isGray ? 1 : 3, orientation: 1, colorProfile: profile)
            return try renderer.renderReduced(managed.inSRGB().inMemory(), cut: nil)
        }
        guard !request.hasPictures else { return try renderer.still.renderReduced(image) }
        var rendered = RenderedMedia()
        rendered.thumbnail = try renderer.still.writeThumbnail(image)
        return rendered
    }

    func decoderBytes(of stored: Image, source: CInt, deadline: ContinuousClock.Instant) throws -> Int {
        try DecodingMemory.coefficientBytes(ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline))
    }

    func requireIntact(_ source: CInt) throws { try StillValidator.requireIntactJPEG(source) }

    func retained(in window: ByteWindow) throws -> RetainedBytes? {
        // A file whose segments cannot be parsed may still decode; then it is re-encoded.
        guard let segments = try? JPEGSegments.parse(window), segments.components != 4 else { return nil }
        return RetainedBytes(
            ranges: segments.needed, lead: segments.hasJFIF || segments.hasAdobe ? [] : JFIFHeader.segment)
    }

    func isCover(_ window: ByteWindow) -> Bool { (try? DecodingMemory.coefficientBytes(window)) != nil }
}
