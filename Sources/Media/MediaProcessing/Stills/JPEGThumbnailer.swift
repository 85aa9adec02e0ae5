import MediaEngine
import MediaLibraries
import MediaTypes

/// Makes the thumbnail of a plain JPEG from its stored components, without color conversion and at the smallest decoded
/// size.
///
/// The whole file is read, so that a truncated one is detected.
struct JPEGThumbnailer {
    private let jpeg: PlainJPEG
    private let decoder: JPEGDecoder
    private let source: CInt
    private let deadline: ContinuousClock.Instant

    /// Nil for a JPEG that is not plain, or cannot be read this way.
    init?(source: CInt, deadline: ContinuousClock.Instant) throws {
        let window = try ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline)
        guard let header = try? JPEGSegments.parseHeader(window), let jpeg = PlainJPEG(header) else { return nil }
        try jpeg.check()
        guard let decoder = try? JPEGDecoder(descriptor: source), decoder.isLumaAndChroma, decoder.hasWholeFactors,
            decoder.width == header.width, decoder.height == header.height
        else { return nil }
        (self.jpeg, self.decoder, self.source, self.deadline) = (jpeg, decoder, source, deadline)
    }

    /// The color space of the components.
    enum ColorEncoding {
        case sRGB
        case display(MatrixProfile)
        /// Must be converted by color management with this ICC profile.
        case managed([UInt8])
    }

    /// The thumbnail, or the whole image as large as the targets need it; nil when this decoder does not support the
    /// file, which may still be intact.
    ///
    /// - Parameters:
    ///   - colors: The result of `colors()`; components that need color management are returned unconverted.
    ///   - download: The download, while the file is still being written.
    /// - Throws: `media.corrupt` when data had to be filled in.
    func image(for request: RenderRequest, colors: ColorEncoding, download: DownloadingFile? = nil) throws
        -> YCbCrImage?
    {
        let geometry = ThumbnailGeometry(request, imageWidth: jpeg.width, imageHeight: jpeg.height)
        let swaps = jpeg.orientation.swapsSides
        let stored = swaps ? (geometry.height, geometry.width) : (geometry.width, geometry.height)
        let eighths = JPEGDecodeScale.eighths(
            width: jpeg.segments.width, height: jpeg.segments.height, target: (width: stored.0, height: stored.1),
            restMin: request.hasPictures ? 1 : JPEGDecodeScale.restMin)
        let pixels = jpeg.segments.width * eighths / 8 * (jpeg.segments.height * eighths / 8)
        guard pixels <= PlaneResampler.pixelsMax, let planes = try planes(eighths: eighths, download) else {
            return nil
        }
        var reduction = PlaneResampler(width: stored.0, height: stored.1)
        let inLight = request.hasPictures
        let columns = planes.enumerated().map { reduction.columns(of: $1, inLight: inLight && $0 == 0) }
        return YCbCrImage(
            columns: Self.inSRGB(columns, height: stored.1, colors: colors),
            storedWidth: stored.0, storedHeight: stored.1, orientation: jpeg.orientation, cut: geometry.kept)
    }

    /// Columns stored one after another are the rows of the transposed image.
    private static func inSRGB(_ columns: [[UInt8]], height: Int, colors: ColorEncoding) -> [[UInt8]] {
        guard case .display(let profile) = colors, columns.count == 3 else { return columns }
        let planes = columns.map { JPEGPlane(width: height, height: $0.count / height, samples: $0) }
        return ColorMatrix(from: .jpeg, profile: profile).apply(planes).map(\.samples)
    }

    private func planes(eighths: Int, _ download: DownloadingFile?) throws -> [JPEGPlane]? {
        let isFast = BaselineDecoder.reductions.contains(eighths)
        let reading = BaselineDecoder.read(
            descriptor: source, eighths: isFast ? eighths : 1,
            waitForMore: { download?.waitForMore() ?? false })
        if case .planes(let planes) = reading, isFast { return planes }
        // libjpeg would take the current end of the file for the end of the image.
        if download != nil { return nil }
        var isChecked = false
        switch reading {
        case .planes: isChecked = true
        case .endMissing, .damaged: throw StillValidator.corrupt("damaged scan")
        case .unsupported: break
        }
        do {
            // In a progressive image it checks every code anyway.
            return try decoder.planes(eighths: eighths, isCareful: !isChecked && !jpeg.segments.isProgressive)
        } catch let damage as JPEGDamageError {
            throw StillValidator.corrupt(damage)
        } catch {
            return nil
        }
    }

    /// The color space of the components. A profile with missing parts is ignored, and sRGB assumed.
    func colors() throws -> ColorEncoding {
        guard !jpeg.segments.profile.isEmpty, let profile = try colorProfile(), !ICCProfile.isSRGB(profile) else {
            return .sRGB
        }
        if jpeg.segments.components == 3, let display = MatrixProfile(profile) { return .display(display) }
        return .managed(profile)
    }

    private func colorProfile() throws -> [UInt8]? {
        let window = try ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline)
        let parts = jpeg.segments.profile
        guard parts.count <= ICCProfile.partsMax else { return nil }
        // A segment is up to two bytes longer than the window.
        return try ICCProfile.joined(parts.map { try window.all(in: $0) })
    }
}

/// Selects how far a JPEG is reduced while it is decoded, so that a filter does the final reduction. Pure.
enum JPEGDecodeScale {
    /// The least reduction left to the filter. At 1.5 no jagged edges or aliasing are visible in a thumbnail; less
    /// would show the edges of the decoder's blocks.
    static let restMin = 1.5

    /// The smallest size in eighths that leaves the filter its share, or 8.
    ///
    /// - Parameter restMin: 1 for a picture that is nearly as large as its source, whose blocks its own encoding hides.
    static func eighths(
        width: Int, height: Int, target: (width: Int, height: Int), restMin: Double = JPEGDecodeScale.restMin
    ) -> Int {
        let rest = min(Double(width) / Double(target.width), Double(height) / Double(target.height))
        return JPEGDecoder.reductions.first { rest * Double($0) / 8 >= restMin } ?? 8
    }
}

/// A JPEG of the most common kind, whose header is parsed here: one frame of 8 bits, gray or three components, baseline
/// or progressive, with at most one readable EXIF block.
///
/// All others are decoded by libvips; both paths give the same result for the same file.
struct PlainJPEG {
    let segments: JPEGSegments

    private static let huffmanFrames: Set<UInt8> = [0xC0, 0xC1, 0xC2]

    /// Nil for another kind.
    init?(_ segments: JPEGSegments) {
        guard segments.frames.count == 1, let frame = segments.frames.first, Self.huffmanFrames.contains(frame),
            segments.precision == 8, segments.components == 1 || segments.components == 3,
            segments.exif.count <= 1, segments.exif.allSatisfy({ $0 != nil })
        else { return nil }
        self.segments = segments
    }

    var orientation: Orientation {
        segments.exif.first.flatMap { $0?.orientation }.flatMap(Orientation.init) ?? .upright
    }

    /// Width in pixels, as displayed.
    var width: Int { orientation.swapsSides ? segments.height : segments.width }
    /// Height in pixels, as displayed.
    var height: Int { orientation.swapsSides ? segments.width : segments.height }

    /// Rejects it by its header.
    ///
    /// - Throws: `media.too_many_pixels`, `media.corrupt` for an empty image.
    func check() throws {
        try ImageLimits.check(width: segments.width, height: segments.height, format: .jpeg)
        _ = try DecodingMemory.coefficientBytes(segments)
    }

    /// The result of inspecting it.
    var inspected: InspectedMedia {
        var media = InspectedMedia(format: .jpeg)
        (media.width, media.height, media.orientation) = (width, height, orientation)
        media.frames = 1
        media.color = segments.components == 1 ? "b-w" : "srgb"
        media.hasColorProfile = !segments.profile.isEmpty
        media.hasLocation = segments.exif.contains { $0?.hasLocation == true }
        media.hasMetadata = segments.hasMetadata
        return media
    }
}
