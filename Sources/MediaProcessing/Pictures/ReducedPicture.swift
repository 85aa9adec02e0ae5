import RichPush

/// A small upright picture as JPEG stores it: Y, Cb and Cr by turns, full range.
struct ReducedPicture {
    let width: Int
    let height: Int
    /// `width * height * 3` bytes.
    let pixels: [UInt8]
    /// Whether it has no chroma.
    let isGrey: Bool

    /// Stands the part of a stored picture upright.
    ///
    /// - Parameters:
    ///   - columns: Luma column by column, and chroma of the same size where there is any.
    ///   - cut: Of the upright picture.
    init(columns planes: [[UInt8]], storedWidth: Int, storedHeight: Int, orientation: Orientation, cut: PixelRect) {
        (width, height) = (cut.width, cut.height)
        let walk = StoredWalk(orientation, storedWidth: storedWidth, storedHeight: storedHeight)
        isGrey = planes.count < 3
        var pixels = [UInt8](repeating: 128, count: cut.width * cut.height * 3)
        for (component, plane) in planes.enumerated() where component == 0 || !isGrey {
            var place = component
            for row in cut.top..<(cut.top + cut.height) {
                var sample = walk.origin + row * walk.down + cut.left * walk.across
                for _ in 0..<cut.width {
                    pixels[place] = plane[sample]
                    place += 3
                    sample += walk.across
                }
            }
        }
        self.pixels = pixels
    }

    /// Luma alone.
    var luma: [UInt8] { stride(from: 0, to: pixels.count, by: 3).map { pixels[$0] } }

    /// The same as red, green and blue by turns. JFIF 1.02, "Conversion to and from RGB".
    var rgb: [UInt8] {
        var converted = [UInt8](repeating: 0, count: pixels.count)
        for place in stride(from: 0, to: pixels.count, by: 3) {
            let (luma, blue, red) = (
                Int(pixels[place]) << 16, Int(pixels[place + 1]) - 128, Int(pixels[place + 2]) - 128
            )
            converted[place] = Self.byte(luma + 91_881 * red)
            converted[place + 1] = Self.byte(luma - 22_554 * blue - 46_802 * red)
            converted[place + 2] = Self.byte(luma + 116_130 * blue)
        }
        return converted
    }

    /// 16 bits behind the point.
    private static func byte(_ value: Int) -> UInt8 { UInt8(max(0, min(255, (value + 32_768) >> 16))) }
}

/// Where the pixels of the upright picture stand among the columns of the stored one: the first, and the steps to the
/// next across and down. Pure.
private struct StoredWalk {
    let origin: Int
    let across: Int
    let down: Int

    init(_ orientation: Orientation, storedWidth width: Int, storedHeight height: Int) {
        // A step to the right of the stored picture is a column.
        let (right, bottom) = ((width - 1) * height, height - 1)
        (origin, across, down) =
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
