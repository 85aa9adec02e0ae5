/// What may be written for each pixel of a frame's rectangle.
struct PixelChoice {
    /// The loss of what cannot be.
    static let never = Int32.max

    /// What each should show; 0 where it shows nothing.
    var wanted: [IndexedColour] = []
    /// The palette's best index for it, and how far that is from it.
    var best: [UInt8] = []
    var bestLoss: [Int32] = []
    /// What is lost when the pixel is left as the frame before shows it.
    var keepingLoss: [Int32] = []
    /// How much a loss is seen there, in 16ths: less where much goes on.
    var weight: [UInt8] = []

    var count: Int { wanted.count }
}
