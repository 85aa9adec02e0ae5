import MediaEngine
import RichPush
import Vips

/// Geometry, colour and frames of a picture file, from its header; its pixels only when that is asked for.
struct PictureInspection {
    let request: InspectRequest
    let format: MediaFormat
    let source: CInt
    let deadline: ContinuousClock.Instant

    /// The decision: which walk or decoder knows the format.
    func inspect() throws -> InspectedMedia {
        switch format {
        case .gif: try inspectGIF()
        case .png: try inspectPNG()
        case .bmp: try inspectBitmap()
        case .tiff: try inspectTIFF()
        case .jpeg: try inspectJPEG()
        case .avif: try inspectAVIF()
        case .webp: try inspectWebP()
        default: try inspectStill()
        }
    }

    private func inspectStill() throws -> InspectedMedia { try inspectStill(decoding: request.decodesStills) }

    private func inspectStill(decoding: Bool) throws -> InspectedMedia {
        if format.isHEIF { try HEIFWalk.check(window("HEIF")) }
        let picture = try Picture.open(descriptor: source)
        try PictureLimits.check(width: picture.width, height: picture.height, format: format)
        _ = try StillMemory.decoderBytes(picture, format: format, source: source, deadline: deadline)
        var media = InspectedMedia(format: format)
        describe(picture, in: &media)
        // HEIF and TIFF keep separate pictures in their pages.
        media.frames = 1
        if decoding { try picture.decodeToEnd() }
        return media
    }

    private func inspectJPEG() throws -> InspectedMedia {
        // What cannot be walked may still decode.
        let segments = try? JPEGSegments.walk(window("JPEG"))
        if !request.decodesStills, let plain = segments.flatMap(PlainJPEG.init) {
            try plain.check()
            return plain.inspected
        }
        if request.decodesStills { try checkHeader() }
        // What is damaged is described by its header, and its pixels are left to the repair.
        let damage = request.decodesStills ? try StillValidation.damage(ofJPEG: source) : nil
        var media = try inspectStill(decoding: damage == nil && request.decodesStills)
        media.hasMetadata = segments?.hasMetadata ?? true
        media.damage = damage
        return media
    }

    /// Before anything is decoded: libjpeg holds all coefficients of a progressive JPEG.
    private func checkHeader() throws {
        // What cannot be walked may still decode.
        guard let header = try? JPEGSegments.walkHeader(window("JPEG")) else { return }
        try PictureLimits.check(width: header.width, height: header.height)
        _ = try StillMemory.coefficientBytes(header)
    }

    private func inspectTIFF() throws -> InspectedMedia {
        try TIFFWalk.walk(window("TIFF"))
        return try inspectStill()
    }

    /// libheif shows stills only; a sequence is known by its brand.
    private func inspectAVIF() throws -> InspectedMedia {
        guard try AVIFSurvey.isSequence(window("AVIF")) else { return try inspectStill() }
        let survey = try AVIFSurvey(source, deadline: deadline)
        var media = InspectedMedia(format: .avif)
        (media.width, media.height) = (survey.width, survey.height)
        media.hasAlpha = survey.alpha != nil
        media.colour = "srgb"
        describe(survey.delaysMilliseconds, loops: survey.loopCount, survey.duration, in: &media)
        try decodeFrames()
        return media
    }

    private func inspectWebP() throws -> InspectedMedia {
        let walk = try WebPWalk.walk(window("WebP"))
        guard walk.isAnimated else { return try inspectStill() }
        try PictureLimits.check(width: walk.width, height: walk.height, frames: walk.frames)
        let picture = try Picture.open(descriptor: source, pages: .all)
        var media = InspectedMedia(format: .webp)
        describe(picture, in: &media)
        describe(walk.delaysMilliseconds, loops: walk.loopCount, walk.duration, in: &media)
        try decodeFrames()
        return media
    }

    /// An animation of one frame is a still.
    private func describe(_ delays: [Int], loops: Int, _ duration: Double, in media: inout InspectedMedia) {
        media.frames = delays.count
        guard delays.count > 1 else { return }
        media.frameDelaysMilliseconds = delays
        media.loopCount = loops
        media.duration = duration
    }

    /// Every frame, when that is asked for.
    private func decodeFrames() throws {
        guard request.decodesStills else { return }
        let frames = try AnimationFrames.open(descriptor: source, format: format, deadline: deadline)
        while try frames.next() != nil {}
    }

    private func describe(_ picture: Picture, in media: inout InspectedMedia) {
        media.orientation = Orientation(rawValue: picture.orientation) ?? .upright
        media.width = media.orientation.swapsSides ? picture.height : picture.width
        media.height = media.orientation.swapsSides ? picture.width : picture.height
        media.hasAlpha = picture.hasAlpha
        media.hasLocation = picture.has("exif-ifd3-GPSLatitude")
        media.colour = picture.colour
        media.hasColourProfile = picture.has("icc-profile-data")
        media.hasMetadata = PictureMetadata.isIn(picture)
    }

    private func inspectPNG() throws -> InspectedMedia {
        let walk = try PNGChunkWalk.walk(window("PNG"))
        // libpng takes no side over a million pixels, and does not say why.
        try PictureLimits.check(width: walk.width, height: walk.height, frames: walk.frames)
        // A still is validated when it is rendered; of an animation that shows only one of its pictures.
        if request.decodesStills || walk.isAnimated {
            try StillValidation.requireIntact(.png, source: source)
        }
        var media = try inspectStill()
        media.hasMetadata = try PNGParts.walk(window("PNG")).hasMetadata
        media.frames = 1
        if walk.isAnimated {
            describe(walk.delaysMilliseconds, loops: walk.loopCount, walk.duration, in: &media)
            try decodeFrames()
        }
        return media
    }

    private func inspectGIF() throws -> InspectedMedia {
        let walk = try GIFWalk.walk(window("GIF"), countsPixels: true)
        try PictureLimits.check(walk)
        if let damage = walk.damage { throw StillValidation.corrupt(damage) }
        var media = InspectedMedia(format: .gif)
        (media.width, media.height) = (walk.width, walk.height)
        media.hasAlpha = walk.hasTransparency
        media.colour = "srgb"
        media.hasMetadata = walk.hasMetadata
        media.frames = walk.frames
        if walk.frames > 1 {
            media.frameDelaysMilliseconds = walk.delaysMilliseconds
            media.loopCount = walk.loopCount
            media.duration = walk.duration
        }
        return media
    }

    private func window(_ noun: String) throws -> ByteWindow {
        try ByteWindow(descriptor: source, noun: noun, deadline: deadline)
    }

    private func inspectBitmap() throws -> InspectedMedia {
        let size = try StillDecoding.bmpSize(descriptor: source, deadline: deadline)
        try PictureLimits.check(width: size.width, height: size.height)
        var media = InspectedMedia(format: .bmp)
        media.width = size.width
        media.height = size.height
        media.frames = 1
        media.colour = "srgb"
        if request.decodesStills {
            media.hasAlpha = try StillDecoding.bmp(descriptor: source, deadline: deadline).bands == 4
        }
        return media
    }
}
