import MediaEngine
import MediaLibraries
import MediaTypes

/// An opaque upright image as a small JPEG stores it: luma, and chroma of half its width and height.
///
/// Pictures are cut out and reduced without conversion to RGB and back, which takes longer than their encoding.
struct HalvedChromaImage {
    let luma: JPEGPlane
    private let chroma: [JPEGPlane]

    var width: Int { luma.width }
    var height: Int { luma.height }

    private init(luma: JPEGPlane, chroma: [JPEGPlane]) {
        (self.luma, self.chroma) = (luma, chroma)
    }

    init(_ image: YCbCrImage) {
        let whole = Self.planes(image.pixels, width: image.width, height: image.height)
        self.init(luma: whole[0], chroma: whole.dropFirst().map { PlaneBoxFilter.shrink($0, by: 2) })
    }

    /// - Parameter image: In sRGB with three bands, or gray with one, in memory.
    init(opaque image: Image) throws {
        guard image.bands == 3 else {
            let gray = JPEGPlane(width: image.width, height: image.height, samples: try image.pixels())
            self.init(luma: gray, chroma: [])
            return
        }
        let colors = Self.planes(try image.pixels(), width: image.width, height: image.height)
        self.init(
            luma: YCbCrConversion.luma(of: colors),
            chroma: YCbCrConversion.chroma(of: colors.map { PlaneBoxFilter.shrink($0, by: 2) }))
    }

    /// The three components of interleaved pixels.
    private static func planes(_ pixels: [UInt8], width: Int, height: Int) -> [JPEGPlane] {
        let count = width * height
        return (0..<3).map { component in
            let samples = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
                unsafe pixels.withUnsafeBufferPointer { pixels in
                    for index in 0..<count { unsafe target[index] = pixels[index &* 3 &+ component] }
                }
                filled = count
            }
            return JPEGPlane(width: width, height: height, samples: samples)
        }
    }

    /// A part of the image, from even coordinates on.
    func part(left: Int, top: Int, width: Int, height: Int) -> HalvedChromaImage {
        let (left, top) = (left / 2 * 2, top / 2 * 2)
        return HalvedChromaImage(
            luma: Self.cut(luma, left: left, top: top, width: width, height: height),
            chroma: chroma.map {
                Self.cut($0, left: left / 2, top: top / 2, width: (width + 1) / 2, height: (height + 1) / 2)
            })
    }

    /// Reduced to exactly the given size, luma as light.
    func reduced(width: Int, height: Int) -> HalvedChromaImage {
        guard width != self.width || height != self.height else { return self }
        return HalvedChromaImage(
            luma: Self.reduced(luma, width: width, height: height, inLight: true),
            chroma: chroma.map {
                Self.reduced($0, width: (width + 1) / 2, height: (height + 1) / 2, inLight: false)
            })
    }

    func jpeg(quality: Int) throws -> [UInt8] {
        try JPEGEncoder.encode(planes: [luma] + chroma, quality: quality, optimizes: true)
    }

    /// As a libvips image in sRGB, in memory.
    func image() throws -> Image { try PlanarImage(planes: [luma] + chroma, orientation: .upright).image() }

    private static func cut(_ plane: JPEGPlane, left: Int, top: Int, width: Int, height: Int) -> JPEGPlane {
        if width == plane.width, height == plane.height { return plane }
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height)
        for row in top..<(top + height) {
            let start = min(row, plane.height - 1) * plane.width
            let end = min(left + width, plane.width)
            samples += plane.samples[(start + left)..<(start + end)]
            // A part that ends between two chroma samples repeats the last one.
            for _ in end..<(left + width) { samples.append(plane.samples[start + plane.width - 1]) }
        }
        return JPEGPlane(width: width, height: height, samples: samples)
    }

    private static func reduced(_ plane: JPEGPlane, width: Int, height: Int, inLight: Bool) -> JPEGPlane {
        var resampler = PlaneResampler(width: width, height: height)
        let samples = resampler.columns(ofLarge: plane, inLight: inLight)
        let transposed = JPEGPlane(width: height, height: width, samples: samples)
        return PlaneOrientation.upright(transposed, orientation: .transposed)
    }
}
