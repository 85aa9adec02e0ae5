/// How a GIF is written.
struct GIFSettings: Sendable {
    var exactness = GIFExactness.exact
    /// Entries of a palette, the transparent one included: 2 to 256.
    var colours = 256
    /// One palette of all frames; nil for one of each frame's own.
    var sharedPalette: GIFPalette?
}
