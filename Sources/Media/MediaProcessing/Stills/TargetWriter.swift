import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Writes the pictures for other systems than iOS.
extension ImageRenditionWriter {
    /// Writes the pictures of an upright sRGB image in memory, which is what they show.
    func writeTargets(of image: Image, _ pace: EncodingPace, in rendered: inout RenderedMedia) throws {
        let base = try reducedForTargets(image)
        try writeTargets(of: TargetSource(base, isNoisy: request.format == .jpeg), pace, in: &rendered)
    }

    /// As above, from components.
    func writeTargets(of image: PlanarImage, _ pace: EncodingPace, in rendered: inout RenderedMedia) throws {
        let geometry = ThumbnailGeometry(targetsAlone, imageWidth: image.width, imageHeight: image.height)
        guard geometry.width * geometry.height <= PlaneResampler.pixelsMax else {
            return try writeTargets(of: image.image(), pace, in: &rendered)
        }
        try writeTargets(of: TargetSource(image.reduced(to: geometry, inLight: true)), pace, in: &rendered)
    }

    /// Writes thumbnail and pictures of an image that was reduced while it was decoded.
    func renderReduced(_ image: YCbCrImage) throws -> RenderedMedia {
        WorkReporter.encode()
        let pace = EncodingPace(clock)
        pace.record(pixels: image.width * image.height)
        let source = TargetSource(image)
        var rendered = RenderedMedia()
        if let box = request.thumbnail {
            let geometry = ThumbnailGeometry(imageWidth: image.width, imageHeight: image.height, box: box)
            rendered.thumbnail = try writeThumbnail(source, geometry: geometry)
        }
        if case .still(let still) = request.attachment {
            progress(rendered)
            let result = try source.encode(still, pace: pace)
            rendered.attachment = RenderedAttachment(try write(result.still, to: .attachment))
            rendered.reductions += result.reductions
        }
        try writeTargets(of: source, pace, in: &rendered)
        return rendered
    }

    private func writeThumbnail(_ source: TargetSource, geometry: ThumbnailGeometry) throws -> RenderedImage {
        let quality = StillEncoding.thumbnailQuality
        let kept = geometry.kept
        let still = try source.picture(width: geometry.width, height: geometry.height, kept: kept, quality: quality)
        return try write(still, to: .thumbnail)
    }

    /// Writes one picture after the other, after iOS's files: one that cannot be made is recorded as missing.
    private func writeTargets(
        of source: TargetSource, _ pace: EncodingPace, in rendered: inout RenderedMedia
    ) throws {
        progress(rendered)
        var source = source
        for target in request.targets {
            guard clock.secondsLeft > 0 else {
                rendered.missingTargets[target.key] = .targetLate
                continue
            }
            do {
                guard let still = try source.encode(target, pace: pace) else {
                    rendered.missingTargets[target.key] = .targetNoImage
                    continue
                }
                guard still.bytes.count <= target.bytesMax else { throw tooSmall(target.bytesMax) }
                rendered.targets[target.key] = try write(still, to: .target(target.key))
                progress(rendered)
            } catch let error as AttachPrepError where error.code == .limitExceeded {
                rendered.missingTargets[target.key] = .targetTooLarge
            }
        }
    }

    /// The whole image in the size that the largest picture needs, from which all are made.
    private func reducedForTargets(_ image: Image) throws -> Image {
        let size = DecodedSize(targetsAlone, imageWidth: image.width, imageHeight: image.height)
        guard size.scale < Self.reducedScaleMax else { return image }
        return try image.reduced(width: size.size.width, height: size.size.height, inLight: true).inMemory()
    }

    /// A reduction that saves less than it costs is left to each picture.
    private static let reducedScaleMax = 0.8

    private var targetsAlone: RenderRequest {
        var request = RenderRequest(format: request.format, frameSelection: request.frameSelection)
        request.targets = self.request.targets
        return request
    }
}

/// The image that pictures are cut out of, as components where it is opaque and no drawing.
struct TargetSource {
    private enum Pixels {
        case components(HalvedChromaImage)
        /// Transparent, or a drawing that may be smaller as PNG.
        case image(Image)
    }

    private let pixels: Pixels
    private let width: Int
    private let height: Int
    private var crop: SmartCrop

    /// - Parameters:
    ///   - image: In sRGB, in memory.
    ///   - isNoisy: Whether it comes from a lossy file, whose noise a PNG would keep.
    init(_ image: Image, isNoisy: Bool) throws {
        (width, height) = (image.width, image.height)
        crop = SmartCrop(image)
        guard try !image.hasTransparency() else {
            pixels = .image(image)
            return
        }
        let opaque = try image.withoutAlpha().inMemory()
        let isDrawing = try !isNoisy && opaque.isDrawing()
        if isDrawing || opaque.bands != 3 {
            pixels = .image(opaque)
        } else {
            pixels = .components(try HalvedChromaImage(opaque: opaque))
        }
    }

    init(_ image: YCbCrImage) {
        (width, height) = (image.width, image.height)
        let components = HalvedChromaImage(image)
        pixels = .components(components)
        crop = SmartCrop(components)
    }

    /// The file of a picture; nil when the image has nothing to show in it.
    ///
    /// - Throws: `limit.exceeded` when nothing is below its aim.
    mutating func encode(_ target: TargetRendition, pace: EncodingPace) throws -> EncodedImage? {
        switch target.content {
        case .silhouette:
            return try Silhouette(of: image(), side: target.width).map {
                let drawn = try $0.image()
                return EncodedImage(.png, try drawn.pngFile(compression: StillEncoding.compression), of: drawn)
            }
        case .picture where target.fit == .whole:
            let scale = target.scale(imageWidth: width, imageHeight: height)
            let size = (Self.reduced(width, by: scale), Self.reduced(height, by: scale))
            return try encode(
                PixelRect(left: 0, top: 0, width: width, height: height), size: size, target: target, pace: pace)
        case .picture:
            let area = try crop.area(ratio: target.ratio)
            let isLarger = area.width > target.width && area.height > target.height
            let size = isLarger ? (target.width, target.height) : (area.width, area.height)
            return try encode(area, size: size, target: target, pace: pace)
        }
    }

    /// The attachment for a display, of an image in components.
    func encode(_ still: StillRendition, pace: EncodingPace) throws -> LadderResult {
        let scale = min(1, Double(still.longSideMax ?? .max) / Double(max(width, height)))
        switch pixels {
        case .components(let image):
            let whole = image.reduced(width: Self.reduced(width, by: scale), height: Self.reduced(height, by: scale))
            return try StillLadder.display(whole, bytesMax: still.bytesMax, pace: pace)
        case .image(let image):
            let whole = try image.limited(toLongSide: still.longSideMax, inLight: true)
            return try StillLadder.display(drawing: whole, bytesMax: still.bytesMax, pace: pace)
        }
    }

    /// A part of the reduced image, at the given quality, of an image in components.
    func picture(width: Int, height: Int, kept: PixelRect, quality: Int) throws -> EncodedImage {
        switch pixels {
        case .components(let image):
            let part = image.reduced(width: width, height: height)
                .part(left: kept.left, top: kept.top, width: kept.width, height: kept.height)
            return EncodedImage(.jpeg, try part.jpeg(quality: quality), width: part.width, height: part.height)
        case .image(let image):
            let part = try image.stretched(width: width, height: height).inMemory()
                .area(left: kept.left, top: kept.top, width: kept.width, height: kept.height).inMemory()
            return try StillEncoding.encode(part, quality: quality)
        }
    }

    private func encode(
        _ area: PixelRect, size: (width: Int, height: Int), target: TargetRendition, pace: EncodingPace
    ) throws -> EncodedImage {
        switch pixels {
        case .components(let image):
            let part = image.part(left: area.left, top: area.top, width: area.width, height: area.height)
                .reduced(width: size.width, height: size.height)
            return try StillLadder.display(part, bytesMax: target.bytesAim, pace: pace).still
        case .image(let image):
            let part = try image.area(left: area.left, top: area.top, width: area.width, height: area.height)
            let isSame = size.width == area.width && size.height == area.height
            let picture = try (isSame ? part : part.stretched(width: size.width, height: size.height)).inMemory()
            if try picture.hasTransparency() {
                return try PNGLadder(bytesMax: target.bytesAim, isTransparent: true, pace: pace)
                    .encode(picture, wasOver: false).still
            }
            let opaque = try picture.withoutAlpha().inMemory()
            return try StillLadder.display(drawing: opaque, bytesMax: target.bytesAim, pace: pace).still
        }
    }

    private func image() throws -> Image {
        switch pixels {
        case .components(let image): try image.image()
        case .image(let image): image
        }
    }

    private static func reduced(_ side: Int, by scale: Double) -> Int {
        max(1, Int(clamping: (Double(side) * scale).rounded()))
    }
}

extension Image {
    /// Pixels that equal their neighbor, as a share of all, from which a lossless file may be the smaller one.
    private static let flatShareMin = 0.4

    /// Whether so much of an opaque image is flat that a lossless file may be the smaller one.
    func isDrawing() throws -> Bool { try flatShare() >= Self.flatShareMin }

    /// Pixels that equal the one to their left, as a share of all.
    private func flatShare() throws -> Double {
        let (width, height, bands) = (width, height, bands)
        return try withPixels { span in
            var equal = 0
            for row in 0..<height {
                let start = row &* width &* bands
                for index in stride(from: start &+ bands, to: start &+ width &* bands, by: bands) {
                    var isEqual = true
                    for band in 0..<bands where span.byte(index &+ band) != span.byte(index &+ band &- bands) {
                        isEqual = false
                    }
                    if isEqual { equal &+= 1 }
                }
            }
            return Double(equal) / Double(max(1, width * height))
        }
    }
}
