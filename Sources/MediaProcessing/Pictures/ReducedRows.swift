import JPEG
import MediaEngine
import RichPush
import Vips

/// A thumbnail that is made while the rows of its picture come: nothing of the size of the whole is ever held.
struct ReducedRows {
    /// What a thumbnail is made of.
    enum Thumbnail {
        case opaque(ReducedPicture)
        case transparent(Picture)
    }

    private let stored: (width: Int, height: Int)
    private let geometry: ThumbnailGeometry
    private var shrink: RowShrink

    /// - Parameters:
    ///   - width: Pixels of the picture, upright, within `PictureLimits`; height as well.
    ///   - samples: Of a pixel: 1 for grey, 3 for red, green and blue, 4 with alpha.
    /// - Returns: Nil when so much is left of it that it cannot be worked on at once.
    init?(width: Int, height: Int, samples: Int, box: ThumbnailRendition) {
        stored = (width, height)
        geometry = ThumbnailGeometry(pictureWidth: width, pictureHeight: height, box: box)
        let factor = PlaneShrink.factor(from: stored, to: (geometry.width, geometry.height))
        // Bounded: `PictureLimits` have been checked, and a factor is at least 1.
        guard width / factor * (height / factor) <= PlaneReduction.pixelsMax else { return nil }
        shrink = RowShrink(width: width, height: height, samples: samples, factor: factor)
    }

    /// The next row from the top; changes it.
    mutating func take(_ row: UnsafeMutableBufferPointer<UInt8>) {
        if shrink.samples == 4 { unsafe AlphaWeight.give(to: row) }
        unsafe shrink.take(row)
    }

    /// All rows have come.
    func thumbnail() throws -> Thumbnail {
        let planes = shrink.shrunk()
        let isOpaque = planes.count < 4 || planes[3].samples.allSatisfy { $0 == .max }
        return isOpaque ? .opaque(opaque(planes)) : .transparent(try clear(planes))
    }

    private func opaque(_ planes: [JPEGPlane]) -> ReducedPicture {
        var reduction = PlaneReduction(width: geometry.width, height: geometry.height)
        let factor = shrink.factor
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

    private func clear(_ planes: [JPEGPlane]) throws -> Picture {
        var reduction = PlaneReduction(width: geometry.width, height: geometry.height)
        let columns = planes.map { reduction.columns(of: $0, factor: shrink.factor, stored: stored) }
        let cut = geometry.kept
        return try Picture.wrap(
            pixels: AlphaWeight.takeOff(columns, height: geometry.height, cut: cut), width: cut.width,
            height: cut.height, bands: 4, orientation: 1)
    }
}

extension StillRendering {
    /// Writes a thumbnail that was made row by row.
    func writeThumbnail(_ thumbnail: ReducedRows.Thumbnail) throws -> RenderedPicture? {
        switch thumbnail {
        case .opaque(let picture): try writeThumbnail(picture)
        case .transparent(let picture): try writeThumbnail(picture, cut: nil)
        }
    }
}
