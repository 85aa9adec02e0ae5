import MediaEngine
import MediaLibraries
import MediaTypes

/// Reads geometry, color and frames of an image file from its header; decodes pixels only on request. How is up to the
/// file's `ImageFormat`, for which this has what they share.
struct ImageInspection {
    let request: InspectRequest
    let format: MediaFormat
    let source: CInt
    let deadline: ContinuousClock.Instant

    /// Inspects the file as its format does.
    func inspect() throws -> InspectedMedia { try format.imageFormat?.inspect(self) ?? inspectStill() }

    // MARK: What formats share

    /// With libvips.
    func inspectStill() throws -> InspectedMedia { try inspectStill(decoding: request.decodesStills) }

    /// With libvips.
    func inspectStill(decoding: Bool) throws -> InspectedMedia {
        try inspect(Image.open(descriptor: source), decoding: decoding)
    }

    /// Checks the limits of an image that libvips has opened, and describes it.
    func inspect(_ image: Image, decoding: Bool) throws -> InspectedMedia {
        try ImageLimits.check(width: image.width, height: image.height, format: format)
        _ = try DecodingMemory.decoderBytes(image, format: format, source: source, deadline: deadline)
        var media = InspectedMedia(format: format)
        describe(image, in: &media)
        // The pages of HEIF and TIFF are separate images, not frames.
        media.frames = 1
        if decoding { try image.decodeToEnd() }
        return media
    }

    /// Describes an animation; one with a single frame is a still.
    func describe(_ delays: [Int], loops: Int, duration: Double, in media: inout InspectedMedia) {
        media.frames = delays.count
        guard delays.count > 1 else { return }
        media.frameDelaysMilliseconds = delays
        media.loopCount = loops
        media.duration = duration
    }

    /// Decodes every frame, if requested.
    func decodeFrames() throws {
        guard request.decodesStills else { return }
        let frames = try AnimationDecoders.open(descriptor: source, format: format, deadline: deadline)
        while try frames.next() != nil {}
    }

    /// Describes an image that libvips has opened.
    func describe(_ image: Image, in media: inout InspectedMedia) {
        media.orientation = Orientation(rawValue: image.orientation) ?? .upright
        media.width = media.orientation.swapsSides ? image.height : image.width
        media.height = media.orientation.swapsSides ? image.width : image.height
        media.hasAlpha = image.hasAlpha
        media.hasLocation = image.has("exif-ifd3-GPSLatitude")
        media.color = image.interpretation
        media.hasColorProfile = image.has("icc-profile-data")
        media.hasMetadata = ImageMetadata.isIn(image)
    }

    func window(_ noun: String) throws -> ByteWindow {
        try ByteWindow(descriptor: source, noun: noun, deadline: deadline)
    }

    /// Describes an image that is decoded to sRGB without libvips' loaders.
    func described(_ image: Image) -> InspectedMedia {
        described(width: image.width, height: image.height, hasAlpha: image.hasAlpha)
    }

    func described(width: Int, height: Int, hasAlpha: Bool) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (width, height, 1)
        media.hasAlpha = hasAlpha
        media.color = "srgb"
        return media
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
