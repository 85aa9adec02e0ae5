/// One component of a picture: 8 bits a sample, rows without padding.
package struct JPEGPlane: Sendable, Hashable {
    package let width: Int
    package let height: Int
    /// `width * height` samples.
    package let samples: [UInt8]

    package init(width: Int, height: Int, samples: [UInt8]) {
        // Bounded: those who make planes have counted their samples in memory.
        precondition(samples.count == width * height, "a plane holds width x height samples")
        self.width = width
        self.height = height
        self.samples = samples
    }
}
