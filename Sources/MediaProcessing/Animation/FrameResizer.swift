import SafeArithmetic
import Vips

/// Brings frames to one size.
struct FrameResizer {
    let width: Int
    let height: Int
    private let sourceWidth: Int
    private let sourceHeight: Int

    /// - Parameter scale: Of each side, at most 1.
    init(width: Int, height: Int, scale: Double) {
        sourceWidth = width
        sourceHeight = height
        self.width = max(1, Int(clamping: (Double(width) * scale).rounded()))
        self.height = max(1, Int(clamping: (Double(height) * scale).rounded()))
    }

    func resized(_ pixels: [UInt8]) throws -> [UInt8] {
        guard width != sourceWidth || height != sourceHeight else { return pixels }
        return try Picture.wrap(pixels: pixels, width: sourceWidth, height: sourceHeight, bands: 4, orientation: 1)
            .stretched(width: width, height: height).pixels()
    }
}
