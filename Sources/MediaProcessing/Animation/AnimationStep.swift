/// What a try of writing an animation gives up.
package struct AnimationStep: Sendable, Hashable {
    /// Steps of 8-bit components that a pixel may be off; 0 is exact.
    package var tolerance = 0.0
    /// Entries of a palette.
    package var colours = 256
    package var rate = FrameRateShare.all
    /// Of the width and the height, 1 for all.
    package var scale = 1.0

    package init() {}

    var isFull: Bool { self == AnimationStep() }

    var settings: GIFSettings {
        GIFSettings(exactness: GIFExactness(level: tolerance), colours: colours, sharedPalette: nil)
    }
}
