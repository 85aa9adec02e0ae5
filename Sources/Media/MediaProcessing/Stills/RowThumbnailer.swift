import MediaEngine
import MediaLibraries
import MediaTypes

/// Makes a thumbnail while the rows of its image arrive, without ever holding the whole image in memory.
struct RowThumbnailer {
    /// A finished thumbnail.
    enum Thumbnail {
        case opaque(YCbCrImage)
        case transparent(Image)
    }

    private let stored: (width: Int, height: Int)
    private let geometry: ThumbnailGeometry
    private var shrink: RowBoxFilter
    private let inLight: Bool

    /// - Parameters:
    ///   - width: Width in pixels of the upright image, within `ImageLimits`; `height` likewise.
    ///   - samples: Samples of a pixel: 1 for gray, 3 for RGB, 4 for RGBA.
    /// - Returns: Nil when the reduced image is too large for `PlaneResampler`.
    init?(width: Int, height: Int, samples: Int, request: RenderRequest) {
        stored = (width, height)
        geometry = ThumbnailGeometry(request, imageWidth: width, imageHeight: height)
        inLight = request.hasPictures
        let factor = PlaneBoxFilter.factor(from: stored, to: (geometry.width, geometry.height))
        guard width / factor * (height / factor) <= PlaneResampler.pixelsMax else { return nil }
        shrink = RowBoxFilter(width: width, height: height, samples: samples, factor: factor)
    }

    /// Adds the next row from the top; modifies the row.
    mutating func append(_ row: UnsafeMutableBufferPointer<UInt8>) {
        if shrink.samples == 4 { unsafe AlphaPremultiplication.premultiply(to: row) }
        unsafe shrink.append(row)
    }

    /// Finishes the thumbnail; call it after the last row.
    func thumbnail() throws -> Thumbnail {
        let planes = shrink.shrunk()
        let isOpaque = planes.count < 4 || planes[3].samples.allSatisfy { $0 == .max }
        return isOpaque ? .opaque(opaque(planes)) : .transparent(try transparent(planes))
    }

    private func opaque(_ planes: [JPEGPlane]) -> YCbCrImage {
        var reduction = PlaneResampler(width: geometry.width, height: geometry.height)
        let factor = shrink.factor
        var columns: [[UInt8]]
        if planes.count < 3 {
            columns = [reduction.columns(of: planes[0], factor: factor, stored: stored, inLight: inLight)]
        } else {
            let luma = YCbCrConversion.luma(of: planes)
            columns = [reduction.columns(of: luma, factor: factor, stored: stored, inLight: inLight)]
            // A thumbnail stores chroma at half its size, so more of it would be wasted.
            let isHalved = factor > 1
            let colors = isHalved ? planes.prefix(3).map { PlaneBoxFilter.shrink($0, by: 2) } : planes
            columns += YCbCrConversion.chroma(of: colors).map {
                reduction.columns(of: $0, factor: isHalved ? factor * 2 : factor, stored: stored)
            }
        }
        return YCbCrImage(
            columns: columns, storedWidth: geometry.width, storedHeight: geometry.height, orientation: .upright,
            cut: geometry.kept)
    }

    private func transparent(_ planes: [JPEGPlane]) throws -> Image {
        var reduction = PlaneResampler(width: geometry.width, height: geometry.height)
        let columns = planes.map { reduction.columns(of: $0, factor: shrink.factor, stored: stored) }
        let cut = geometry.kept
        return try Image.wrap(
            pixels: AlphaPremultiplication.unpremultiply(columns, height: geometry.height, cut: cut), width: cut.width,
            height: cut.height, bands: 4, orientation: 1)
    }
}

extension ImageRenditionWriter {
    /// Writes a thumbnail that was made row by row.
    func writeThumbnail(_ thumbnail: RowThumbnailer.Thumbnail) throws -> RenderedImage? {
        switch thumbnail {
        case .opaque(let image): try writeThumbnail(image)
        case .transparent(let image): try writeThumbnail(image, cut: nil)
        }
    }
}

/// Makes the thumbnail of a plain PNG while its rows arrive, without ever holding the whole image in memory.
///
/// The whole file is read and all of its checksums are verified, so that a truncated or damaged one is detected.
struct PNGThumbnailer {
    private let decoder: PNGDecoder
    private let deadline: ContinuousClock.Instant

    /// Rows between two checks of the deadline.
    private static let rowsAtATime = 256

    /// Nil for a PNG that is not plain or cannot be read this way: more than 8 bits a sample, interlaced, with EXIF, or
    /// with colors other than sRGB.
    init?(source: CInt, deadline: ContinuousClock.Instant, _ download: DownloadingFile? = nil) throws {
        guard
            let decoder = try? PNGDecoder(
                descriptor: source, waitForMore: { download?.waitForMore() ?? false }),
            !decoder.isInterlaced, decoder.bitDepth <= 8, !decoder.hasExif, PNGTextOrientation.read(decoder) == nil
        else { return nil }
        try ImageLimits.check(width: decoder.width, height: decoder.height)
        if let profile = decoder.colorProfile, !ICCProfile.isSRGB(profile) { return nil }
        // The chunks before the first row have been written.
        guard try DeclaredColors.png(ByteWindow(descriptor: source, noun: "PNG", deadline: deadline)) == nil else {
            return nil
        }
        (self.decoder, self.deadline) = (decoder, deadline)
    }

    /// The thumbnail, or the whole image as large as the targets need it; nil when this decoder does not support the
    /// file, which may still be intact.
    ///
    /// - Throws: `deadline.exceeded`.
    func thumbnail(for request: RenderRequest) throws -> RowThumbnailer.Thumbnail? {
        guard
            var rows = RowThumbnailer(
                width: decoder.width, height: decoder.height, samples: decoder.samples.rawValue, request: request)
        else { return nil }
        var row = 0
        do {
            try unsafe decoder.decode { pixels in
                if row % Self.rowsAtATime == 0 { try checkDeadline(deadline) }
                row += 1
                unsafe rows.append(pixels)
            }
        } catch is PNGError {
            return nil
        }
        return try rows.thumbnail()
    }
}
