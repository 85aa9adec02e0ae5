/// What a GIF's frames are drawn on: red, green, blue and alpha, transparent at first.
struct GIFCanvas {
    private static let bytesPerPixel = 4

    let width: Int
    let height: Int
    /// Rows without padding.
    private(set) var pixels: [UInt8]
    /// As it was before the frame that is shown, where that is to come back.
    private var before: [UInt8]?

    // Bounded throughout: `PictureLimits` have been checked for the canvas and for each frame, and places are
    // brought to both.

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        pixels = [UInt8](repeating: 0, count: width * height * Self.bytesPerPixel)
    }

    /// Draws a frame over what is there; what lies outside of the canvas is cut off.
    mutating func draw(_ frame: GIFFrame) {
        if frame.block.disposal == .restore { before = pixels }
        for row in frame.block.top..<max(frame.block.top, min(frame.block.bottom, height)) {
            let places = row * width * Self.bytesPerPixel..<(row + 1) * width * Self.bytesPerPixel
            unsafe pixels.withUnsafeMutableBytes { pixels in
                unsafe frame.draw(row: row, over: UnsafeMutableRawBufferPointer(rebasing: pixels[places]))
            }
        }
    }

    /// The time of a frame that was drawn is over.
    mutating func dispose(of block: GIFFrameBlock) {
        switch block.disposal {
        case .keep: break
        case .clear: clear(block)
        case .restore: if let before { pixels = before }
        }
        before = nil
    }

    private mutating func clear(_ block: GIFFrameBlock) {
        let columns = min(block.left, width)..<min(block.right, width)
        guard !columns.isEmpty else { return }
        for row in block.top..<max(block.top, min(block.bottom, height)) {
            let start = (row * width + columns.lowerBound) * Self.bytesPerPixel
            unsafe pixels.withUnsafeMutableBytes { pixels in
                let part = unsafe pixels[start..<start + columns.count * Self.bytesPerPixel]
                unsafe UnsafeMutableRawBufferPointer(rebasing: part).initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
    }
}
