import MediaEngine
import MediaLibraries
import MediaTypes

/// An image in components, as JPEG stores it: full-range luma, and chroma of the same size or subsampled, unless it is
/// gray.
struct PlanarImage {
    let planes: [JPEGPlane]
    /// The rotation that makes it upright.
    let orientation: Orientation
    /// Whether it has half the size of its source, for want of memory.
    var isHalved = false

    /// Width in pixels, as displayed.
    var width: Int { orientation.swapsSides ? planes[0].height : planes[0].width }
    /// Height in pixels, as displayed.
    var height: Int { orientation.swapsSides ? planes[0].width : planes[0].height }

    /// Rotated upright.
    func upright() -> PlanarImage {
        PlanarImage(
            planes: planes.map { PlaneOrientation.upright($0, orientation: orientation) }, orientation: .upright)
    }

    /// Reduced to a box and upright.
    ///
    /// - Parameter inLight: Whether the light of luma is averaged, for a picture that is shown large.
    func reduced(to box: ThumbnailGeometry, inLight: Bool = false) -> YCbCrImage {
        let stored = orientation.swapsSides ? (box.height, box.width) : (box.width, box.height)
        var reduction = PlaneResampler(width: stored.0, height: stored.1)
        return YCbCrImage(
            columns: planes.enumerated().map { reduction.columns(ofLarge: $1, inLight: inLight && $0 == 0) },
            storedWidth: stored.0, storedHeight: stored.1, orientation: orientation, cut: box.kept)
    }

    /// As a libvips image: upright, in sRGB, in memory.
    func image() throws -> Image {
        let upright = upright()
        let luma = upright.planes[0]
        return try Image.wrap(
            pixels: upright.rgb(), width: luma.width, height: luma.height, bands: 3, orientation: 1
        ).inSRGB().inMemory()
    }

    /// Interleaved RGB; each chroma sample is used for all pixels it covers. JFIF 1.02, "Conversion to and from RGB".
    func rgb() -> [UInt8] {
        guard planes.count == 3 else { return planes[0].samples.flatMap { repeatElement($0, count: 3) } }
        let (luma, blue, red) = (planes[0], planes[1], planes[2])
        let (horizontalShift, verticalShift) = (luma.width > blue.width ? 1 : 0, luma.height > blue.height ? 1 : 0)
        return unsafe [UInt8](unsafeUninitializedCapacity: luma.width * luma.height * 3) { target, filled in
            var index = 0
            for row in 0..<luma.height {
                for column in 0..<luma.width {
                    let chroma = (row >> verticalShift) &* blue.width &+ (column >> horizontalShift)
                    let bright = Int(luma.samples[row &* luma.width &+ column]) << 16 + 32_768
                    let (cb, cr) = (Int(blue.samples[chroma]) - 128, Int(red.samples[chroma]) - 128)
                    unsafe target[index] = Self.byte(bright + 91_881 * cr)
                    unsafe target[index + 1] = Self.byte(bright - 22_554 * cb - 46_802 * cr)
                    unsafe target[index + 2] = Self.byte(bright + 116_130 * cb)
                    index &+= 3
                }
            }
            filled = luma.width * luma.height * 3
        }
    }

    /// From 16 fractional bits.
    private static func byte(_ value: Int) -> UInt8 { UInt8(max(0, min(255, value >> 16))) }
}

/// Rotates a component upright.
enum PlaneOrientation {
    /// Side of the squares that are copied together, for cache locality.
    private static let side = 32

    static func upright(_ plane: JPEGPlane, orientation: Orientation) -> JPEGPlane {
        guard orientation != .upright else { return plane }
        let swaps = orientation.swapsSides
        let (width, height) = swaps ? (plane.height, plane.width) : (plane.width, plane.height)
        let order = SampleOrder(orientation, width: plane.width, height: plane.height)
        let samples = unsafe [UInt8](unsafeUninitializedCapacity: width * height) { target, filled in
            unsafe plane.samples.withUnsafeBufferPointer { source in
                for top in stride(from: 0, to: height, by: side) {
                    for left in stride(from: 0, to: width, by: side) {
                        for row in top..<min(top + side, height) {
                            var index = order.origin &+ row &* order.rowStep &+ left &* order.columnStep
                            for column in left..<min(left + side, width) {
                                unsafe target[row &* width &+ column] = source[index]
                                index &+= order.columnStep
                            }
                        }
                    }
                }
            }
            filled = width * height
        }
        return JPEGPlane(width: width, height: height, samples: samples)
    }

    /// Positions of the upright plane's samples in the stored one: the first, and the steps to the next across and
    /// down. Pure.
    private struct SampleOrder {
        let origin: Int
        let columnStep: Int
        let rowStep: Int

        init(_ orientation: Orientation, width: Int, height: Int) {
            let (right, bottom) = (width - 1, (height - 1) * width)
            (origin, columnStep, rowStep) =
                switch orientation {
                case .upright: (0, 1, width)
                case .mirrored: (right, -1, width)
                case .rotated180: (bottom + right, -1, -width)
                case .mirroredRotated180: (bottom, 1, -width)
                case .transposed: (0, width, 1)
                case .rotated90: (bottom, -width, 1)
                case .transversed: (bottom + right, -width, -1)
                case .rotated270: (right, width, -1)
                }
        }
    }
}

/// A small upright image as JPEG stores it: interleaved Y, Cb and Cr, full range.
struct YCbCrImage {
    let width: Int
    let height: Int
    /// `width * height * 3` bytes.
    let pixels: [UInt8]
    /// Whether it has no chroma.
    let isGray: Bool

    /// Rotates a part of a stored image upright.
    ///
    /// - Parameters:
    ///   - columns: Luma column by column, and chroma of the same size unless it is gray.
    ///   - cut: The part, in coordinates of the upright image.
    init(columns planes: [[UInt8]], storedWidth: Int, storedHeight: Int, orientation: Orientation, cut: PixelRect) {
        (width, height) = (cut.width, cut.height)
        let order = StoredSampleOrder(orientation, storedWidth: storedWidth, storedHeight: storedHeight)
        isGray = planes.count < 3
        var pixels = [UInt8](repeating: 128, count: cut.width * cut.height * 3)
        for (component, plane) in planes.enumerated() where component == 0 || !isGray {
            var index = component
            for row in cut.top..<(cut.top + cut.height) {
                var sample = order.origin + row * order.rowStep + cut.left * order.columnStep
                for _ in 0..<cut.width {
                    pixels[index] = plane[sample]
                    index += 3
                    sample += order.columnStep
                }
            }
        }
        self.pixels = pixels
    }

    /// Luma alone.
    var luma: [UInt8] { stride(from: 0, to: pixels.count, by: 3).map { pixels[$0] } }

    /// Interleaved RGB. JFIF 1.02, "Conversion to and from RGB".
    var rgb: [UInt8] {
        var converted = [UInt8](repeating: 0, count: pixels.count)
        for index in stride(from: 0, to: pixels.count, by: 3) {
            let (luma, blue, red) = (
                Int(pixels[index]) << 16, Int(pixels[index + 1]) - 128, Int(pixels[index + 2]) - 128
            )
            converted[index] = Self.byte(luma + 91_881 * red)
            converted[index + 1] = Self.byte(luma - 22_554 * blue - 46_802 * red)
            converted[index + 2] = Self.byte(luma + 116_130 * blue)
        }
        return converted
    }

    /// From 16 fractional bits.
    private static func byte(_ value: Int) -> UInt8 { UInt8(max(0, min(255, (value + 32_768) >> 16))) }
}

/// Positions of the upright image's pixels among the columns of the stored one: the first, and the steps to the next
/// across and down. Pure.
private struct StoredSampleOrder {
    let origin: Int
    let columnStep: Int
    let rowStep: Int

    init(_ orientation: Orientation, storedWidth width: Int, storedHeight height: Int) {
        // A step to the right in the stored image is one column.
        let (right, bottom) = ((width - 1) * height, height - 1)
        (origin, columnStep, rowStep) =
            switch orientation {
            case .upright: (0, height, 1)
            case .mirrored: (right, -height, 1)
            case .rotated180: (bottom + right, -height, -1)
            case .mirroredRotated180: (bottom, height, -1)
            case .transposed: (0, 1, height)
            case .rotated90: (bottom, -1, height)
            case .transversed: (bottom + right, -1, -height)
            case .rotated270: (right, 1, -height)
            }
    }
}
