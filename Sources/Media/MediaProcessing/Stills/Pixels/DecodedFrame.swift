package import MediaEngine
import MediaTypes

/// Pixels in memory, 8 bits a component in sRGB, rows without padding: passed from libav's decoders to libvips.
package struct DecodedFrame: Sendable {
    /// As stored: neither rotated nor stretched yet.
    package let width: Int
    package let height: Int
    /// 3 for RGB, 4 for RGBA (alpha not premultiplied).
    package let bands: Int
    /// `width * height * bands` bytes.
    package let bytes: [UInt8]
    /// The rotation that makes it upright.
    package let orientation: Orientation
    /// Width of a pixel over its height; 1 is square.
    package let sampleAspectRatio: Double
    /// Presentation time in seconds on the movie's timeline; nil for a still.
    package let time: Double?
    /// Whether it is the requested frame, not an earlier one that was used because time ran out.
    package let isExact: Bool

    package init(
        width: Int, height: Int, bands: Int, bytes: [UInt8], orientation: Orientation = .upright,
        sampleAspectRatio: Double = 1, time: Double? = nil, isExact: Bool = true
    ) {
        precondition(bytes.count == width * height * bands, "expected width x height x bands bytes")
        self.width = width
        self.height = height
        self.bands = bands
        self.bytes = bytes
        self.orientation = orientation
        self.sampleAspectRatio = sampleAspectRatio
        self.time = time
        self.isExact = isExact
    }
}
