import MediaEngine
import MediaLibraries
import MediaTypes

/// Reads geometry, color and frames of an image file from its header; decodes pixels only on request.
struct ImageInspection {
    let request: InspectRequest
    let format: MediaFormat
    let source: CInt
    let deadline: ContinuousClock.Instant

    /// Chooses the parser or decoder for the format.
    func inspect() throws -> InspectedMedia {
        switch format.imageFormat {
        case .gif: try inspectGIF()
        case .png: try inspectPNG()
        case .bmp: try inspectBitmap()
        case .icon: try inspectDecoded(IconDecoder.image(descriptor: source, deadline: deadline))
        case .svg: try inspectDecoded(SVGRenderer.image(descriptor: source, deadline: deadline))
        case .tiff: try inspectTIFF()
        case .jpeg: try inspectJPEG()
        case .avif: try inspectAVIF()
        case .webp: try inspectWebP()
        case .jpegXL: try inspectJPEGXL()
        case .heic, .heif: try inspectHEIF()
        case .jpeg2000, nil: try inspectStill()
        }
    }

    private func inspectStill() throws -> InspectedMedia { try inspectStill(decoding: request.decodesStills) }

    private func inspectStill(decoding: Bool) throws -> InspectedMedia {
        let image =
            format.isHEIF ? try HEIFLoader.open(source, deadline: deadline) : try Image.open(descriptor: source)
        return try inspect(image, decoding: decoding)
    }

    private func inspect(_ image: Image, decoding: Bool) throws -> InspectedMedia {
        try ImageLimits.check(width: image.width, height: image.height, format: format)
        _ = try DecodingMemory.decoderBytes(image, format: format, source: source, deadline: deadline)
        var media = InspectedMedia(format: format)
        describe(image, in: &media)
        // The pages of HEIF and TIFF are separate images, not frames.
        media.frames = 1
        if decoding { try image.decodeToEnd() }
        return media
    }

    private func inspectJPEG() throws -> InspectedMedia {
        let header = try? JPEGSegments.parseHeader(window("JPEG"))
        try header?.requireSupported()
        var media = try inspectDecodableJPEG()
        if let header, header.isArithmetic || !header.hasHuffmanTables {
            media.containerDefect = media.containerDefect ?? .rareCoding
        }
        return media
    }

    private func inspectDecodableJPEG() throws -> InspectedMedia {
        // A file that cannot be parsed may still decode.
        let segments = try? JPEGSegments.parse(window("JPEG"))
        if !request.decodesStills, let plain = segments.flatMap(PlainJPEG.init) {
            try plain.check()
            return plain.inspected
        }
        if request.decodesStills { try checkHeader() }
        // A damaged JPEG is described by its header; its pixels are decoded by the repair.
        let defect = request.decodesStills ? try StillValidator.defect(ofJPEG: source) : nil
        var media = try inspectStill(decoding: defect == nil && request.decodesStills)
        media.hasMetadata = segments?.hasMetadata ?? true
        switch defect {
        case .damage(let damage): media.damage = damage
        case .endMissing: media.containerDefect = .trailerMissing
        case nil: break
        }
        return media
    }

    /// Checks limits before anything is decoded: libjpeg holds all coefficients of a progressive JPEG in memory.
    private func checkHeader() throws {
        // A file that cannot be parsed may still decode.
        guard let header = try? JPEGSegments.parseHeader(window("JPEG")) else { return }
        try ImageLimits.check(width: header.width, height: header.height, format: .jpeg)
        _ = try DecodingMemory.coefficientBytes(header)
    }

    private func inspectTIFF() throws -> InspectedMedia {
        let page = try TIFFValidator.parse(window("TIFF"))
        return try inspect(page.open(source), decoding: request.decodesStills)
    }

    /// With the project's own reader where that will decode the file, else with libheif.
    private func inspectHEIF() throws -> InspectedMedia {
        let window = try window("HEIF")
        try HEIFReferenceValidator.check(window)
        guard let heif = try FastPath.attempt({ try PlainHEIF(window) }) else { return try inspectStill() }
        try ImageLimits.check(heif, format: format)
        if request.decodesStills,
            try HEIFDecoder.decode(source: source, format: format, deadline: deadline) == nil
        {
            return try inspectStill()
        }
        var media = described(width: heif.width, height: heif.height, hasAlpha: heif.hasAlpha)
        media.hasColorProfile = heif.profile != nil
        (media.hasMetadata, media.hasLocation) = try heif.items.metadata()
        return media
    }

    /// libheif decodes stills only; a sequence is detected by its brand.
    private func inspectAVIF() throws -> InspectedMedia {
        guard try AVIFSequenceIndex.isSequence(window("AVIF")) else { return try inspectHEIF() }
        let sequence = try AVIFSequenceIndex(source, deadline: deadline)
        var media = InspectedMedia(format: .avif)
        (media.width, media.height) = (sequence.width, sequence.height)
        media.hasAlpha = sequence.alpha != nil
        media.color = "srgb"
        describe(sequence.delaysMilliseconds, loops: sequence.loopCount, duration: sequence.duration, in: &media)
        try decodeFrames()
        return media
    }

    private func inspectWebP() throws -> InspectedMedia {
        let parser = try WebPParser.parse(window("WebP"))
        guard parser.isAnimated else { return try inspectStill() }
        try ImageLimits.check(width: parser.width, height: parser.height, frames: parser.frames)
        let image = try Image.open(descriptor: source, pages: .all)
        var media = InspectedMedia(format: .webp)
        describe(image, in: &media)
        describe(parser.delaysMilliseconds, loops: parser.loopCount, duration: parser.duration, in: &media)
        try decodeFrames()
        return media
    }

    private func inspectJPEGXL() throws -> InspectedMedia {
        let header = try JPEGXLHeader.parse(window("JPEG XL image"))
        try header.requireSupported()
        try ImageLimits.check(width: header.width, height: header.height)
        try DecodingMemory.check(header)
        return try inspectStill()
    }

    /// Describes an animation; one with a single frame is a still.
    private func describe(_ delays: [Int], loops: Int, duration: Double, in media: inout InspectedMedia) {
        media.frames = delays.count
        guard delays.count > 1 else { return }
        media.frameDelaysMilliseconds = delays
        media.loopCount = loops
        media.duration = duration
    }

    /// Decodes every frame, if requested.
    private func decodeFrames() throws {
        guard request.decodesStills else { return }
        let frames = try AnimationDecoders.open(descriptor: source, format: format, deadline: deadline)
        while try frames.next() != nil {}
    }

    private func describe(_ image: Image, in media: inout InspectedMedia) {
        media.orientation = Orientation(rawValue: image.orientation) ?? .upright
        media.width = media.orientation.swapsSides ? image.height : image.width
        media.height = media.orientation.swapsSides ? image.width : image.height
        media.hasAlpha = image.hasAlpha
        media.hasLocation = image.has("exif-ifd3-GPSLatitude")
        media.color = image.interpretation
        media.hasColorProfile = image.has("icc-profile-data")
        media.hasMetadata = ImageMetadata.isIn(image)
    }

    private func inspectPNG() throws -> InspectedMedia {
        let parser = try PNGParser.parse(window("PNG"))
        // libpng rejects sides over a million pixels without stating the reason.
        try ImageLimits.check(width: parser.width, height: parser.height, frames: parser.frames)
        // A still is validated when it is rendered, but rendering an animation shows only one of its frames.
        if request.decodesStills || parser.isAnimated {
            try StillValidator.requireIntact(.png, source: source)
        }
        var media = try inspectStill()
        if !parser.isAnimated, let orientation = PNGTextOrientation.read(descriptor: source) {
            media.containerDefect = .orientationInText
            media.orientation = orientation
            if orientation.swapsSides { (media.width, media.height) = (media.height, media.width) }
        }
        media.hasMetadata = try PNGRetainedChunks.parse(window("PNG")).hasMetadata
        media.frames = 1
        if parser.isAnimated {
            describe(parser.delaysMilliseconds, loops: parser.loopCount, duration: parser.duration, in: &media)
            try decodeFrames()
        }
        return media
    }

    private func inspectGIF() throws -> InspectedMedia {
        let parser = try GIFParser.parse(window("GIF"), countsPixels: true)
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

    private func window(_ noun: String) throws -> ByteWindow {
        try ByteWindow(descriptor: source, noun: noun, deadline: deadline)
    }

    private func inspectDecoded(_ image: Image) -> InspectedMedia {
        described(width: image.width, height: image.height, hasAlpha: image.hasAlpha)
    }

    /// An image that is decoded to sRGB without libvips' loaders.
    private func described(width: Int, height: Int, hasAlpha: Bool) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (width, height, 1)
        media.hasAlpha = hasAlpha
        media.color = "srgb"
        return media
    }

    private func inspectBitmap() throws -> InspectedMedia {
        let size = try BMPDecoder.bmpSize(descriptor: source, deadline: deadline)
        try ImageLimits.check(width: size.width, height: size.height)
        let hasAlpha =
            try request.decodesStills && BMPDecoder.bmp(descriptor: source, deadline: deadline).bands == 4
        return described(width: size.width, height: size.height, hasAlpha: hasAlpha)
    }
}

/// Detects metadata that the pixels do not need, by libvips field names.
enum ImageMetadata {
    private static let blocks = ["xmp-data", "iptc-data", "photoshop-data", "gif-comment", "image-description"]
    /// EXIF tags of orientation, resolution and encoding, which are not personal data.
    private static let plainTags = [
        "Orientation", "XResolution", "YResolution", "ResolutionUnit", "YCbCrPositioning", "ColorSpace", "ExifVersion",
        "FlashpixVersion", "FlashPixVersion", "ComponentsConfiguration", "PixelXDimension", "PixelYDimension",
        "ImageWidth", "ImageLength", "BitsPerSample", "Compression", "PhotometricInterpretation", "SamplesPerPixel",
        "PlanarConfiguration",
    ]

    static func isIn(_ image: Image) -> Bool {
        if blocks.contains(where: image.has) { return true }
        return image.fields.contains { name in
            name.hasPrefix("exif-ifd") && !plainTags.contains { name.hasSuffix("-\($0)") }
        }
    }
}
