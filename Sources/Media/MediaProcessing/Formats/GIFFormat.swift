import MediaEngine
import MediaTypes

/// Source: CompuServe, "Graphics Interchange Format, Version 89a".
struct GIFFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        let parser = try GIFParser.parse(inspection.window("GIF"), countsPixels: true)
        try ImageLimits.check(parser)
        if let damage = parser.damage { throw StillValidator.corrupt(damage) }
        var media = InspectedMedia(format: .gif)
        (media.width, media.height) = (parser.width, parser.height)
        media.hasAlpha = parser.hasTransparency
        media.color = "srgb"
        media.hasMetadata = parser.hasMetadata
        media.containerDefect = parser.isTrailerMissing ? .trailerMissing : nil
        media.frames = parser.frames
        if parser.frames > 1 {
            media.frameDelaysMilliseconds = parser.delaysMilliseconds
            media.loopCount = parser.loopCount
            media.duration = parser.duration
        }
        return media
    }

    func render(with renderer: ImageRenderer) throws -> RenderedMedia { try renderer.renderGIF(0) }

    func animation(_ source: CInt, deadline: ContinuousClock.Instant) throws -> (any AnimationDecoder)? {
        try GIFDecoder(ByteWindow(descriptor: source, noun: "GIF", deadline: deadline), deadline: deadline)
    }

    func frameDelays(_ source: CInt, deadline: ContinuousClock.Instant) throws -> [Int] {
        try GIFParser.parse(ByteWindow(descriptor: source, noun: "GIF", deadline: deadline)).delaysMilliseconds
    }
}
