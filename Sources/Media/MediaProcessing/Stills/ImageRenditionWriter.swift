import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Writes attachment, crop and thumbnail of one upright sRGB image in memory.
struct ImageRenditionWriter {
    let request: RenderRequest
    let outputs: [RenderOutput: OutputFile]
    let sourceBytes: Int
    let clock: WorkClock
    /// Called with what is written before the attachment is encoded.
    let progress: (RenderedMedia) -> Void

    /// Writes the requested renditions, the cheap ones that are shown first at the beginning, so that they exist when
    /// time runs out.
    func render(_ image: Image) throws -> RenderedMedia {
        if request.attachment != nil || request.crop != nil || !request.targets.isEmpty { WorkReporter.encode() }
        let pace = EncodingPace(clock)
        pace.record(pixels: image.width * image.height)
        var rendered = RenderedMedia()
        let part = try request.crop.map { try Self.part($0, of: image) }
        rendered.clippingRect = part
        let cropped = try part.map { try Self.crop(image, to: $0) }
        rendered.thumbnail = try thumbnail(of: cropped ?? image)
        if let cropped {
            let still = try StillEncoding.encode(cropped, quality: StillEncoding.fullQuality)
            rendered.crop = try write(still, to: .crop)
        }
        if case .still(let rendition) = request.attachment {
            progress(rendered)
            try writeAttachment(image, rendition: rendition, pace: pace, in: &rendered)
        }
        if !request.targets.isEmpty {
            // A part that the caller has chosen is what all systems show; a smart crop has one system's proportions.
            let isChosen = if case .part = request.crop { true } else { false }
            try writeTargets(of: isChosen ? cropped ?? image : image, pace, in: &rendered)
        }
        if request.frameSelection == .still { try rendered.warn(ifInvisible: image) }
        return rendered
    }

    func writeAttachment(
        _ image: Image, rendition: StillRendition, pace: EncodingPace, in rendered: inout RenderedMedia
    ) throws {
        let ladder = StillLadder(
            rendition: rendition, isPNG: request.format == .png, sourceBytes: sourceBytes, pace: pace)
        let result = try ladder.encode(image)
        rendered.attachment = RenderedAttachment(try write(result.still, to: .attachment))
        rendered.reductions += result.reductions
        if pace.isShort, !result.reductions.isEmpty { rendered.degrade("The image was encoded in less detail") }
    }

    private static func part(_ choice: CropChoice, of image: Image) throws -> ClippingRect {
        switch choice {
        case .part(let rect): return rect
        case .smart(let ratio):
            var crop = SmartCrop(image)
            return try crop.rect(ratio: ratio)
        }
    }

    private static func crop(_ image: Image, to rect: ClippingRect) throws -> Image {
        let area = rect.pixels(width: image.width, height: image.height)
        return try image.area(left: area.left, top: area.top, width: area.width, height: area.height)
    }

    private func thumbnail(of image: Image) throws -> RenderedImage? {
        guard let box = request.thumbnail else { return nil }
        let geometry = ThumbnailGeometry(imageWidth: image.width, imageHeight: image.height, box: box)
        let isSame = geometry.width == image.width && geometry.height == image.height
        let reduced = try (isSame ? image : image.reduced(width: geometry.width, height: geometry.height)).inMemory()
        return try writeThumbnail(reduced, cut: geometry.cut)
    }

    /// Crops and writes an image that already has its final size.
    func writeThumbnail(_ reduced: Image, cut: PixelRect?) throws -> RenderedImage? {
        var image = reduced
        if let cut {
            let (left, top) = (min(cut.left, reduced.width - 1), min(cut.top, reduced.height - 1))
            image = try reduced.area(
                left: left, top: top, width: min(cut.width, reduced.width - left),
                height: min(cut.height, reduced.height - top))
        }
        return try write(StillEncoding.encode(image, quality: StillEncoding.thumbnailQuality), to: .thumbnail)
    }

    /// Writes an image that is upright and already has its final size.
    func writeThumbnail(_ image: YCbCrImage) throws -> RenderedImage {
        let quality = StillEncoding.thumbnailQuality
        let bytes = try JPEGEncoder.encode(
            pixels: image.pixels, width: image.width, height: image.height, quality: quality,
            halvesChroma: quality < StillEncoding.fullQuality)
        try outputFile(of: .thumbnail).write(bytes)
        return RenderedImage(type: .jpeg, width: image.width, height: image.height, bytes: bytes.count)
    }

    func write(_ still: EncodedImage, to output: RenderOutput) throws -> RenderedImage {
        try outputFile(of: output).write(still.bytes)
        return RenderedImage(type: still.type, width: still.width, height: still.height, bytes: still.bytes.count)
    }

    func outputFile(of output: RenderOutput) throws -> OutputFile {
        guard let file = outputs[output] else {
            throw AttachPrepError(.internal, "A rendition has no output file.", detail: "no output for \(output)")
        }
        return file
    }
}

extension RenderedMedia {
    /// Adds a warning where nothing of an image is visible.
    mutating func warn(ifInvisible image: Image) throws {
        // What is opaque was written as JPEG.
        guard [thumbnail?.type, attachment?.type].contains(.png), try image.isInvisible() else { return }
        warnings.append(
            PreparationWarning(.imageInvisible, "Every pixel of the image is transparent; check the file."))
    }

    /// Adds a `deadline.degraded` warning; `what` begins the sentence.
    mutating func degrade(_ what: String) {
        isDegraded = true
        guard !warnings.contains(where: { $0.code == .deadlineDegraded }) else { return }
        warnings.append(
            PreparationWarning(.deadlineDegraded, "\(what), because time ran short; allow a larger budget."))
    }
}

/// Writes attachment and thumbnail of an image in components, without conversion between YCbCr and RGB.
extension ImageRenditionWriter {
    /// The bytes saved by halved chroma pay for a higher quality: no more bytes than with full chroma, at the same
    /// fidelity.
    private static let halvedQuality = 91
    /// Optimized Huffman tables make a JPEG 3 to 5 % smaller, but need all of its coefficients in memory, 36 MB for a
    /// phone's photo.
    private static let optimizedPixelsMax = 6_000_000

    /// As `render` of pixels: what is shown first is written first.
    func render(_ image: PlanarImage) throws -> RenderedMedia {
        guard request.crop == nil else { return try render(image.image()) }
        if request.attachment != nil || !request.targets.isEmpty { WorkReporter.encode() }
        var rendered = RenderedMedia()
        if let box = request.thumbnail {
            rendered.thumbnail = try writeThumbnail(
                image.reduced(
                    to: ThumbnailGeometry(imageWidth: image.width, imageHeight: image.height, box: box)))
        }
        let pace = EncodingPace(clock)
        pace.record(pixels: image.width * image.height)
        if case .still(let rendition) = request.attachment {
            progress(rendered)
            if let written = try writeAttachment(image, rendition: rendition, pace: pace) {
                rendered.attachment = RenderedAttachment(written)
            } else {
                try writeAttachment(image.image(), rendition: rendition, pace: pace, in: &rendered)
            }
        }
        if !request.targets.isEmpty { try writeTargets(of: image, pace, in: &rendered) }
        return rendered
    }

    /// Nil when the byte limit or the deadline requires a ladder.
    private func writeAttachment(
        _ image: PlanarImage, rendition: StillRendition, pace: EncodingPace
    ) throws -> RenderedImage? {
        guard pace.allows(pixels: image.width * image.height) else { return nil }
        let (width, height, bytes) = try encode(image, longSideMax: rendition.longSideMax ?? .max)
        guard bytes.count <= rendition.bytesMax else { return nil }
        try outputFile(of: .attachment).write(bytes)
        return RenderedImage(type: .jpeg, width: width, height: height, bytes: bytes.count)
    }

    private func encode(
        _ image: PlanarImage, longSideMax: Int
    ) throws -> (width: Int, height: Int, bytes: [UInt8]) {
        guard max(image.width, image.height) > longSideMax else {
            let upright = image.upright()
            let isWhole = image.planes.allSatisfy { $0.width == image.planes[0].width }
            let optimizes = image.width * image.height <= Self.optimizedPixelsMax
            let bytes = try JPEGEncoder.encode(
                planes: upright.planes, quality: isWhole ? StillEncoding.fullQuality : Self.halvedQuality,
                optimizes: optimizes)
            return (image.width, image.height, bytes)
        }
        let box = ThumbnailRendition(width: longSideMax, height: longSideMax, fit: .contain)
        let reduced = image.reduced(
            to: ThumbnailGeometry(imageWidth: image.width, imageHeight: image.height, box: box), inLight: true)
        return (reduced.width, reduced.height, try HalvedChromaImage(reduced).displayJPEG().bytes)
    }
}
