/// What each index of a palette loses where it is written, and where it may be.
struct PixelLoss {
    private let pixels: PixelChoice
    private let tolerance: Int32
    private let colours = NumberRow<IndexedColour>(repeating: 0, count: 256)
    /// For every index, 256 others: whether two may stand for each other somewhere.
    private let near: NumberRow<Bool>
    private let neighbours: [[UInt8]]
    /// Whether nothing but its best index may be written for a pixel.
    private let alone: NumberRow<Bool>
    /// Of the palette; above all indexes for none.
    private let nothing: Int
    let transparent: UInt8?

    var count: Int { pixels.count }

    init(_ pixels: PixelChoice, palette: GIFPalette, exactness: GIFExactness) {
        self.pixels = pixels
        tolerance = Int32(exactness.tolerance)
        transparent = palette.transparent
        nothing = transparent.map(Int.init) ?? 256
        for (index, colour) in palette.colours.enumerated() { colours[index] = colour }
        near = palette.near(within: exactness.tolerance)
        neighbours = exactness.isExact ? palette.colours.map { _ in [] } : palette.neighbours(near)
        alone = NumberRow(repeating: false, count: pixels.count)
        let isLonely = neighbours.indices.map { $0 != nothing && neighbours[$0].isEmpty }
        for place in 0..<pixels.count where isLonely[Int(pixels.best[place])] {
            alone[place] = transparent == nil || !mayBeKept(at: place)
        }
    }

    @inline(__always) func best(at position: Int) -> UInt8 { pixels.best[position] }
    @inline(__always) func isAlone(at position: Int) -> Bool { alone[position] }

    /// The nearest indexes of one; none of an exact picture's, and none of the transparent one.
    func neighbours(of index: UInt8) -> [UInt8] { neighbours[Int(index)] }

    /// Over the best index; nil where it is too far.
    @inline(__always) func loss(of index: UInt8, at position: Int) -> Int32? {
        let best = pixels.best[position]
        if index == best { return 0 }
        let loss: Int32
        if Int(index) == nothing {
            loss = pixels.keepingLoss[position]
            if loss == PixelChoice.never { return nil }
        } else {
            // Most are too far from the best one already.
            let wanted = pixels.wanted[position]
            guard wanted != 0, near[Int(best) << 8 | Int(index)] else { return nil }
            loss = colours[Int(index)].distance(to: wanted)
        }
        let extra = loss &- pixels.bestLoss[position]
        return extra <= tolerance ? extra : nil
    }

    private func mayBeKept(at place: Int) -> Bool {
        let loss = pixels.keepingLoss[place]
        return loss != PixelChoice.never && loss &- pixels.bestLoss[place] <= tolerance
    }
}
