package import RichPush

/// Pixels in memory, 8 bits a component in sRGB, rows without padding: what libav's decoders hand to libvips.
package struct DecodedPicture: Sendable {
    /// As stored: not yet turned, not yet stretched.
    package let width: Int
    package let height: Int
    /// 3 for RGB, 4 for RGBA (alpha not premultiplied).
    package let bands: Int
    /// `width * height * bands` bytes.
    package let bytes: [UInt8]
    /// What is left to do to stand it upright.
    package let orientation: Orientation
    /// Width of a pixel over its height; 1 is square.
    package let sampleAspectRatio: Double
    /// Presentation time in seconds of the movie's own timeline; nil for a still.
    package let time: Double?
    /// Whether it is the picture that was wanted, not one before it that time allowed.
    package let isExact: Bool

    package init(
        width: Int, height: Int, bands: Int, bytes: [UInt8], orientation: Orientation = .upright,
        sampleAspectRatio: Double = 1, time: Double? = nil, isExact: Bool = true
    ) {
        // Bounded: those who decode have the bytes in memory.
        precondition(bytes.count == width * height * bands, "a picture holds width x height x bands bytes")
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
