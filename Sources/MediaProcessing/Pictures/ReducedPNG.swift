import JPEG
import MediaEngine
import PNG
import RichPush
import Vips

/// The thumbnail of a plain PNG, reduced while its rows come: nothing of the size of the whole is ever held.
///
/// All of the file is read and all of its checksums are looked at, so one that is cut or damaged is found out as well.
struct ReducedPNG {
    private let decoder: PNGDecoder
    private let deadline: ContinuousClock.Instant

    /// Rows between two looks at the clock.
    private static let rowsAtATime = 256

    /// Nil for what is no plain PNG, or cannot be read so: with more than 8 bits a sample, interlaced, turned by a
    /// camera, or in colours other than sRGB's.
    init?(source: CInt, deadline: ContinuousClock.Instant, _ arrival: Arrival? = nil) throws {
        guard
            let decoder = try? PNGDecoder(
                descriptor: source, waitForMore: { arrival?.waitForMore() ?? false }),
            !decoder.isInterlaced, decoder.bitDepth <= 8, !decoder.hasExif
        else { return nil }
        try PictureLimits.check(width: decoder.width, height: decoder.height)
        if let profile = decoder.colourProfile, !ICCProfile.isSRGB(profile) { return nil }
        (self.decoder, self.deadline) = (decoder, deadline)
    }

    /// What a thumbnail is made of it.
    enum Thumbnail {
        case opaque(ReducedPicture)
        case transparent(Picture)
    }

    /// The thumbnail for a box; nil when the file cannot be read to its end this way, which says nothing of the file.
    ///
    /// - Throws: `deadline.exceeded`.
    func thumbnail(in box: ThumbnailRendition) throws -> Thumbnail? {
        let geometry = ThumbnailGeometry(pictureWidth: decoder.width, pictureHeight: decoder.height, box: box)
        let factor = PlaneShrink.factor(
            from: (decoder.width, decoder.height), to: (geometry.width, geometry.height))
        // Bounded: `PictureLimits` have been checked, and a factor is at least 1.
        guard decoder.width / factor * (decoder.height / factor) <= PlaneReduction.pixelsMax,
            let planes = try planes(factor: factor)
        else { return nil }
        let isOpaque = planes.count < 4 || planes[3].samples.allSatisfy { $0 == .max }
        return isOpaque ? .opaque(opaque(planes, geometry, factor)) : .transparent(try clear(planes, geometry, factor))
    }

    private func opaque(_ planes: [JPEGPlane], _ geometry: ThumbnailGeometry, _ factor: Int) -> ReducedPicture {
        var reduction = PlaneReduction(width: geometry.width, height: geometry.height)
        var columns: [[UInt8]]
        if planes.count < 3 {
            columns = [reduction.columns(of: planes[0], factor: factor, stored: stored)]
        } else {
            columns = [reduction.columns(of: LumaAndChroma.luma(of: planes), factor: factor, stored: stored)]
            // A thumbnail stores chroma at half its size: there is nothing to be won from more of it.
            let isHalved = factor > 1
            let colours = isHalved ? planes.prefix(3).map { PlaneShrink.shrink($0, by: 2) } : planes
            // Bounded throughout: lists, and factors of at most `PlaneShrink.factorMax`.
            columns += LumaAndChroma.chroma(of: colours).map {
                reduction.columns(of: $0, factor: isHalved ? factor * 2 : factor, stored: stored)
            }
        }
        return ReducedPicture(
            columns: columns, storedWidth: geometry.width, storedHeight: geometry.height, orientation: .upright,
            cut: geometry.kept)
    }

    private func clear(_ planes: [JPEGPlane], _ geometry: ThumbnailGeometry, _ factor: Int) throws -> Picture {
        var reduction = PlaneReduction(width: geometry.width, height: geometry.height)
        let columns = planes.map { reduction.columns(of: $0, factor: factor, stored: stored) }
        let cut = geometry.kept
        return try Picture.wrap(
            pixels: AlphaWeight.takeOff(columns, height: geometry.height, cut: cut), width: cut.width,
            height: cut.height, bands: 4, orientation: 1)
    }

    private var stored: (width: Int, height: Int) { (decoder.width, decoder.height) }

    /// Red, green and blue with their weight, or grey.
    private func planes(factor: Int) throws -> [JPEGPlane]? {
        let samples = decoder.samples
        var shrink = RowShrink(
            width: decoder.width, height: decoder.height, samples: samples.rawValue, factor: factor)
        var row = 0
        do {
            try unsafe decoder.decode { pixels in
                if row % Self.rowsAtATime == 0 { try checkDeadline(deadline) }
                row += 1
                if samples == .redGreenBlueAlpha { unsafe AlphaWeight.give(to: pixels) }
                unsafe shrink.take(pixels)
            }
        } catch is PNGError {
            return nil
        }
        return shrink.shrunk()
    }
}
