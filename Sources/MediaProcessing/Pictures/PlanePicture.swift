import JPEG
import RichPush
import Vips

/// A picture as JPEG stores it, in components: luma of full range, and chroma as large or smaller, where there is any.
struct PlanePicture {
    let planes: [JPEGPlane]
    /// What is left to do to stand it upright.
    let orientation: Orientation

    /// Pixels as displayed.
    var width: Int { orientation.swapsSides ? planes[0].height : planes[0].width }
    /// Pixels as displayed.
    var height: Int { orientation.swapsSides ? planes[0].width : planes[0].height }

    /// Standing upright.
    func upright() -> PlanePicture {
        PlanePicture(planes: planes.map { PlaneTurn.upright($0, orientation) }, orientation: .upright)
    }

    /// Reduced to a box and upright.
    func reduced(to box: ThumbnailGeometry) -> ReducedPicture {
        let stored = orientation.swapsSides ? (box.height, box.width) : (box.width, box.height)
        var reduction = PlaneReduction(width: stored.0, height: stored.1)
        return ReducedPicture(
            columns: planes.map { reduction.columns(ofLarge: $0) }, storedWidth: stored.0, storedHeight: stored.1,
            orientation: orientation, cut: box.kept)
    }

    /// As libvips takes it: upright, in sRGB, in memory.
    func picture() throws -> Picture {
        let upright = upright()
        let luma = upright.planes[0]
        return try Picture.wrap(
            pixels: upright.rgb(), width: luma.width, height: luma.height, bands: 3, orientation: 1
        ).inSRGB().inMemory()
    }

    /// Red, green and blue by turns; each sample of chroma stands for all pixels it lies over. JFIF 1.02, "Conversion
    /// to and from RGB".
    private func rgb() -> [UInt8] {
        guard planes.count == 3 else { return planes[0].samples.flatMap { repeatElement($0, count: 3) } }
        let (luma, blue, red) = (planes[0], planes[1], planes[2])
        let (across, down) = (luma.width > blue.width ? 1 : 0, luma.height > blue.height ? 1 : 0)
        return unsafe [UInt8](unsafeUninitializedCapacity: luma.width * luma.height * 3) { target, filled in
            var place = 0
            for row in 0..<luma.height {
                for column in 0..<luma.width {
                    let chroma = (row >> down) &* blue.width &+ (column >> across)
                    let bright = Int(luma.samples[row &* luma.width &+ column]) << 16 + 32_768
                    let (cb, cr) = (Int(blue.samples[chroma]) - 128, Int(red.samples[chroma]) - 128)
                    unsafe target[place] = Self.byte(bright + 91_881 * cr)
                    unsafe target[place + 1] = Self.byte(bright - 22_554 * cb - 46_802 * cr)
                    unsafe target[place + 2] = Self.byte(bright + 116_130 * cb)
                    place &+= 3
                }
            }
            filled = luma.width * luma.height * 3
        }
    }

    /// 16 bits behind the point.
    private static func byte(_ value: Int) -> UInt8 { UInt8(max(0, min(255, value >> 16))) }
}
