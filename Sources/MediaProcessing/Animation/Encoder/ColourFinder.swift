/// The nearest index of a palette for any colour, remembered: pictures ask for the same colours again and again.
struct ColourFinder {
    private static let slots = 1 << 14

    let palette: GIFPalette
    /// Colours asked for lately, by a hash of theirs, and their indexes.
    private var colours = [IndexedColour](repeating: 0, count: slots)
    private var indexes = [UInt8](repeating: 0, count: slots)

    init(_ palette: GIFPalette) {
        self.palette = palette
    }

    mutating func index(of colour: IndexedColour) -> UInt8 {
        let slot = Int((colour &* 0x9E37_79B1) >> 18)
        if colours[slot] == colour { return indexes[slot] }
        let index = palette.nearest(to: colour)
        colours[slot] = colour
        indexes[slot] = index
        return index
    }
}
