/// What may be written for each pixel of a frame's rectangle.
struct PixelChoice {
    /// The loss of what cannot be.
    static let never = Int32.max

    /// What each should show; 0 where it shows nothing.
    let wanted: NumberRow<IndexedColour>
    /// What is lost when the pixel is left as the frame before shows it.
    let keepingLoss: NumberRow<Int32>
    /// The palette's best index for it, and how far that is from it.
    private(set) var best: NumberRow<UInt8>
    private(set) var bestLoss: NumberRow<Int32>

    var count: Int { wanted.count }

    init(count: Int) {
        wanted = NumberRow(repeating: 0, count: count)
        keepingLoss = NumberRow(repeating: 0, count: count)
        best = NumberRow(repeating: 0, count: 0)
        bestLoss = NumberRow(repeating: 0, count: 0)
    }

    /// Finds each pixel's best index and gives what all lose by it.
    mutating func choose(_ finder: inout ColourFinder) -> Int {
        let best = NumberRow<UInt8>(repeating: 0, count: count)
        let bestLoss = NumberRow<Int32>(repeating: 0, count: count)
        let transparent = finder.palette.transparent
        var sum = 0
        for index in 0..<count {
            let (wanted, keeping) = (wanted[index], keepingLoss[index])
            guard wanted != 0, keeping != 0 else {
                best[index] = transparent ?? 0
                continue
            }
            var (found, loss) = finder.nearest(to: wanted)
            if keeping <= loss || found == transparent, let transparent { (found, loss) = (transparent, keeping) }
            best[index] = found
            bestLoss[index] = loss
            sum &+= Int(loss)
        }
        (self.best, self.bestLoss) = (best, bestLoss)
        return sum
    }
}
