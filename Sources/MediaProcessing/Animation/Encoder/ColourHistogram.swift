/// How often colours occur: exactly as long as they are few, else in 32,768 cells.
struct ColourHistogram {
    /// More are not told apart: a palette has no room for them.
    static let exactMax = 256
    static let cellsMax = 32_768

    private(set) var isExact = true
    private var table = [IndexedColour](repeating: 0, count: 1024)
    /// The different colours, in the order they came, while they are few.
    private(set) var colours: [IndexedColour] = []
    private(set) var cells: [Cell] = []

    /// Pixels of a cell and the sums of their components.
    struct Cell {
        var count = 0
        var red = 0
        var green = 0
        var blue = 0

        var sums: ColourMoments.Sums { ColourMoments.Sums(Double(count), Double(red), Double(green), Double(blue)) }
    }

    @inline(__always) static func cell(of colour: IndexedColour) -> Int {
        (colour.red >> 3) << 10 | (colour.green >> 3) << 5 | colour.blue >> 3
    }

    /// Adds what can be seen of a picture.
    mutating func add(pixels: [IndexedColour]) {
        if cells.isEmpty { cells = [Cell](repeating: Cell(), count: Self.cellsMax) }
        if isExact { for pixel in pixels where pixel != 0 && isExact { addExactly(pixel) } }
        unsafe cells.withUnsafeMutableBufferPointer { cells in
            for pixel in pixels where pixel != 0 {
                // A cell's number has as many bits as there are cells.
                let index = Self.cell(of: pixel)
                unsafe cells[index].count &+= 1
                unsafe cells[index].red &+= pixel.red
                unsafe cells[index].green &+= pixel.green
                unsafe cells[index].blue &+= pixel.blue
            }
        }
    }

    private mutating func addExactly(_ colour: IndexedColour) {
        var slot = Int((colour &* 0x9E37_79B1) >> 22)
        while table[slot] != 0 {
            if table[slot] == colour { return }
            slot = (slot + 1) & 1023
        }
        if colours.count == Self.exactMax { return isExact = false }
        table[slot] = colour
        colours.append(colour)
    }
}
