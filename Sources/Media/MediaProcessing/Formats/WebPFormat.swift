import MediaEngine
import MediaLibraries
import MediaTypes

/// Source: RFC 9649.
struct WebPFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        let parser = try WebPParser.parse(inspection.window("WebP"))
        guard parser.isAnimated else { return try inspection.inspectStill() }
        try ImageLimits.check(width: parser.width, height: parser.height, frames: parser.frames)
        let image = try Image.open(descriptor: inspection.source, pages: .all)
        var media = InspectedMedia(format: .webp)
        inspection.describe(image, in: &media)
        inspection.describe(parser.delaysMilliseconds, loops: parser.loopCount, duration: parser.duration, in: &media)
        try inspection.decodeFrames()
        return media
    }

    /// With libwebp where the file is plain, else with libvips; a crop, which shows single pixels, also uses libvips.
    func render(with renderer: ImageRenderer) throws -> RenderedMedia {
        let plain =
            renderer.request.crop == nil
            ? try WebPStillDecoder.decode(source: renderer.source, deadline: renderer.deadline) : nil
        return try plain.map(renderer.still.render) ?? renderer.renderWhole()
    }

    var isReducedWhileDecoding: Bool { true }

    func decoderBytes(of stored: Image, source: CInt, deadline: ContinuousClock.Instant) throws -> Int {
        stored.width * stored.height * DecodingMemory.webPBytesPerPixel
    }

    func animation(_ source: CInt, deadline: ContinuousClock.Instant) throws -> (any AnimationDecoder)? {
        try WebPAnimationDecoder(source, deadline: deadline)
    }

    func frameDelays(_ source: CInt, deadline: ContinuousClock.Instant) throws -> [Int] {
        try WebPParser.parse(ByteWindow(descriptor: source, noun: "WebP", deadline: deadline)).delaysMilliseconds
    }
}
