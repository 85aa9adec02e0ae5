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

    /// The nearest index of a colour, by looking at all.
    func nearest(to colour: IndexedColour) -> UInt8 {
        var (best, least) = (0, Int.max)
        for index in colours.indices where colours[index] != 0 {
            let distance = colours[index].distance(to: colour)
            if distance < least { (best, least) = (index, distance) }
        }
        return UInt8(best)
    }

    /// The indexes near each one, so that a search for a pixel near it need not look at all.
    func neighbours(within tolerance: Int) -> [[UInt8]] {
        // The pixel itself may lie between the two.
        let reach = tolerance * 4
        return colours.indices.map { index in
            colours.indices.filter { other in
                other != index && colours[other] != 0 && colours[index] != 0
                    && colours[other].distance(to: colours[index]) <= reach
            }
            .sorted { colours[$0].distance(to: colours[index]) > colours[$1].distance(to: colours[index]) }
            .suffix(Self.neighboursMax).map(UInt8.init)
        }
    }

    private static let neighboursMax = 24
}
