/// The colours of a frame, or of all frames, and where to find one.
struct GIFPalette: Sendable, Hashable {
    /// Colours, and 0 at the transparent index.
    let colours: [IndexedColour]
    let transparent: UInt8?
    /// Whether every colour of the pixels it was made for is in it.
    let isExact: Bool

    /// - Parameter hasTransparency: Whether an index stands for none of the colours.
    init(_ opaque: [IndexedColour], hasTransparency: Bool, isExact: Bool = false) {
        self.isExact = isExact
        precondition(opaque.count + (hasTransparency ? 1 : 0) <= 256, "a palette has 256 entries")
        colours = opaque + (hasTransparency || opaque.isEmpty ? [0] : [])
        transparent = hasTransparency || opaque.isEmpty ? UInt8(opaque.count) : nil
    }

    /// Bits of an index in a table of the sizes that GIF knows; its codes know no 1.
    var tableBits: Int { max(1, Int.bitWidth - (colours.count - 1).leadingZeroBitCount) }
    var rootBits: Int { max(2, tableBits) }

    /// The table's bytes.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<1 << tableBits {
            let colour = index < colours.count ? colours[index] : 0
            bytes += [UInt8(colour.red), UInt8(colour.green), UInt8(colour.blue)]
        }
        return bytes
    }

    /// For every index, 256 others: whether a pixel whose best it is may be near enough to them. A pixel that is best
    /// shown by nothing is near to none.
    func near(within tolerance: Int) -> NumberRow<Bool> {
        // The pixel itself may lie between the two.
        let reach = Int32(tolerance * 4)
        let near = NumberRow(repeating: false, count: 1 << 16)
        for index in tolerance > 0 ? colours.indices : 0..<0 where colours[index] != 0 {
            let colour = colours[index]
            for other in 0..<index where colours[other] != 0 && colour.distance(to: colours[other]) <= reach {
                near[index << 8 | other] = true
                near[other << 8 | index] = true
            }
        }
        // What is best left alone may be anything.
        if let transparent {
            for other in colours.indices { near[Int(transparent) << 8 | other] = true }
        }
        return near
    }

    /// The nearest indexes of each one, so that a search need not try all.
    func neighbours(_ near: NumberRow<Bool>) -> [[UInt8]] {
        colours.indices.map { index in
            guard index != transparent.map(Int.init) else { return [] }
            return colours.indices.filter { near[index << 8 | $0] }
                .map { (index: $0, distance: colours[$0].distance(to: colours[index])) }
                .sorted { $0.distance > $1.distance }
                .suffix(Self.neighboursMax).map { UInt8($0.index) }
        }
    }

    private static let neighboursMax = 24
}
