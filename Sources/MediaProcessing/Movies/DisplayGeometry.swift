import LibAV
import RichPush
import SafeArithmetic

/// How a stored picture is shown: stretched to square pixels, then turned.
// Bounded throughout: floating point.
struct DisplayGeometry: Sendable, Hashable {
    /// A ratio beyond this is an error in the file, not a lens.
    private static let ratioMax = 20.0

    let orientation: Orientation
    /// Width of a pixel over its height; exactly 1 within the tolerance.
    let sampleAspectRatio: Double
    /// Pixels as displayed.
    let width: Int
    let height: Int

    init(_ stream: StreamDescription) {
        orientation = MediaProcessing.orientation(ofDisplayMatrix: stream.displayMatrix)
        sampleAspectRatio = Self.ratio(stream.sampleAspectRatio)
        let stretched = max(1, Int(clamping: (Double(stream.width) * sampleAspectRatio).rounded()))
        width = orientation.swapsSides ? stream.height : stretched
        height = orientation.swapsSides ? stretched : stream.height
    }

    /// All pixels as displayed; as many as there are numbers where a header says more.
    var pixels: Int {
        width.multiplied(clamping: height)
    }

    private static func ratio(_ ratio: Double?) -> Double {
        guard let ratio, (1 / ratioMax...ratioMax).contains(ratio) else { return 1 }
        return abs(ratio - 1) <= Limits.sampleAspectTolerance ? 1 : ratio
    }
}
