package import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// How a stored frame is displayed: scaled to square pixels, then rotated.
struct DisplayGeometry: Sendable, Hashable {
    /// Pixel aspect ratios above this value, or below its inverse, are ignored as errors in the file.
    private static let ratioMax = 20.0

    let orientation: Orientation
    /// Pixel width divided by pixel height; exactly 1 within the tolerance.
    let sampleAspectRatio: Double
    /// Displayed size in pixels.
    let width: Int
    let height: Int

    init(_ stream: StreamDescription) {
        orientation = MediaProcessing.orientation(ofDisplayMatrix: stream.displayMatrix)
        sampleAspectRatio = Self.ratio(stream.sampleAspectRatio)
        let stretched = max(1, Int(clamping: (Double(stream.width) * sampleAspectRatio).rounded()))
        width = orientation.swapsSides ? stream.height : stretched
        height = orientation.swapsSides ? stretched : stream.height
    }

    /// Number of displayed pixels, clamped to `Int.max`.
    var pixels: Int {
        width.multiplied(clamping: height)
    }

    private static func ratio(_ ratio: Double?) -> Double {
        guard let ratio, (1 / ratioMax...ratioMax).contains(ratio) else { return 1 }
        return abs(ratio - 1) <= Limits.sampleAspectTolerance ? 1 : ratio
    }
}

/// Reduces a movie's display matrix to one of the eight EXIF orientations.
///
/// The matrix maps stored to displayed points as `x' = a x + c y`, `y' = b x + d y` (ISO/IEC 14496-12, 8.3.2).
/// Intermediate rotations are rounded to the nearest quarter turn; scale and translation are ignored.
package func orientation(ofDisplayMatrix matrix: [Int32]?) -> Orientation {
    guard let matrix, matrix.count == 9 else { return .upright }
    let (a, b, c, d) = (
        Int64(clamping: matrix[0]), Int64(clamping: matrix[1]), Int64(clamping: matrix[3]), Int64(clamping: matrix[4])
    )
    if a == 0, b == 0, c == 0, d == 0 { return .upright }
    if abs(a) + abs(d) >= abs(b) + abs(c) {
        return switch (a < 0, d < 0) {
        case (false, false): .upright
        case (true, false): .mirrored
        case (true, true): .rotated180
        case (false, true): .mirroredRotated180
        }
    }
    return switch (b < 0, c < 0) {
    case (false, false): .transposed
    case (false, true): .rotated90
    case (true, true): .transversed
    case (true, false): .rotated270
    }
}

extension Limits {
    /// Deviation of the pixel aspect ratio that still counts as square (cover art has 501:500).
    static let sampleAspectTolerance = 0.01
}
