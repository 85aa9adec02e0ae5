import MediaEngine
import MediaLibraries
import MediaTypes

/// Source: W3C, "Portable Network Graphics, Third Edition".
struct PNGFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        let parser = try PNGParser.parse(inspection.window("PNG"))
        // libpng rejects sides over a million pixels without stating the reason.
        try ImageLimits.check(width: parser.width, height: parser.height, frames: parser.frames)
        // A still is validated when it is rendered, but rendering an animation shows only one of its frames.
        if inspection.request.decodesStills || parser.isAnimated { try requireIntact(inspection.source) }
        var media = try inspection.inspectStill()
        if !parser.isAnimated, let orientation = textOrientation(inspection.source) {
            media.containerDefect = .orientationInText
            media.orientation = orientation
            if orientation.swapsSides { (media.width, media.height) = (media.height, media.width) }
        }
        media.hasMetadata = try PNGRetainedChunks.parse(inspection.window("PNG")).hasMetadata
        media.frames = 1
        if parser.isAnimated {
            inspection.describe(
                parser.delaysMilliseconds, loops: parser.loopCount, duration: parser.duration, in: &media)
            try inspection.decodeFrames()
        }
        return media
    }

    var isReducedWhileDecoding: Bool { true }

    func renderReduced(with renderer: ImageRenderer, _ download: DownloadingFile?) throws -> RenderedMedia? {
        guard let png = try PNGThumbnailer(source: renderer.source, deadline: renderer.deadline, download),
            let thumbnail = try png.thumbnail(for: renderer.request)
        else { return nil }
        guard renderer.request.targets.isEmpty else {
            switch thumbnail {
            case .opaque(let image): return try renderer.still.renderReduced(image)
            case .transparent(let image): return try renderer.still.render(image)
            }
        }
        var rendered = RenderedMedia()
        rendered.thumbnail = try renderer.still.writeThumbnail(thumbnail)
        if case .transparent(let image) = thumbnail { try rendered.warn(ifInvisible: image) }
        return rendered
    }

    func open(_ source: CInt, pages: Image.Pages, deadline: ContinuousClock.Instant) throws -> Image {
        let image = try Image.open(descriptor: source, pages: pages)
        return try textOrientation(source).map { try image.oriented($0.rawValue) } ?? image
    }

    func textOrientation(_ source: CInt) -> Orientation? { PNGTextOrientation.read(descriptor: source) }

    func decoderBytes(of stored: Image, source: CInt, deadline: ContinuousClock.Instant) throws -> Int {
        try DecodingMemory.interlacedBytes(stored)
    }

    func requireIntact(_ source: CInt) throws { try StillValidator.requireIntactPNG(source) }

    func colors(in window: ByteWindow) throws -> DeclaredColors? { try DeclaredColors.png(window) }

    func retained(in window: ByteWindow) throws -> RetainedBytes? {
        RetainedBytes(ranges: try PNGRetainedChunks.parse(window).needed, lead: [])
    }

    func animation(_ source: CInt, deadline: ContinuousClock.Instant) throws -> (any AnimationDecoder)? {
        try APNGDecoder(source, deadline: deadline)
    }

    func frameDelays(_ source: CInt, deadline: ContinuousClock.Instant) throws -> [Int] {
        try PNGParser.parse(ByteWindow(descriptor: source, noun: "PNG", deadline: deadline)).delaysMilliseconds
    }

    func isCover(_ window: ByteWindow) -> Bool { (try? PNGParser.parse(window)) != nil }
}
