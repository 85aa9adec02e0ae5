/// How exact a GIF's pixels are written.
struct GIFExactness: Sendable, Hashable {
    /// Weighted distance that a pixel may be off more than its palette makes it; 0 for not at all.
    let tolerance: Int
    /// What a bit may cost of such distances.
    let bitPrice: Float

    static let exact = GIFExactness(level: 0)

    /// - Parameter level: Steps of 8-bit components that a grey may be off, 0 for none.
    init(level: Double) {
        let distance = level * level * Double(IndexedColour.distanceScale)
        tolerance = Int(distance)
        // With no price the longest match would be taken; a little one does the same, and takes the better of two.
        bitPrice = max(0.001, Float(distance * Self.priceShare))
    }

    /// What a bit may cost, as a share of the tolerance: found by trying.
    private static let priceShare = 0.15

    var isExact: Bool { tolerance == 0 }
}
