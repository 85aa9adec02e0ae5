import SafeArithmetic

/// Writes an animation as GIF, frame after frame, and counts its bytes.
struct GIFEncoder {
    private let loopCount: Int
    private var writer: GIFFrameWriter
    private var waiting: (pixels: [IndexedColour], hundredths: Int)?
    private(set) var bytes: [UInt8]
    /// Bytes of each frame that was written.
    private(set) var frameBytes: [Int] = []

    /// - Parameters:
    ///   - width: Pixels, at most 65,535 as the height.
    ///   - loopCount: How often it plays; 0 is for ever.
    init(width: Int, height: Int, loopCount: Int, settings: GIFSettings) {
        precondition((1...0xFFFF).contains(width) && (1...0xFFFF).contains(height), "a GIF's sides have 16 bits")
        self.loopCount = loopCount
        writer = GIFFrameWriter(width: width, height: height, settings: settings)
        // Bounded throughout: lists.
        bytes =
            GIFBlocks.header(width: width, height: height, palette: settings.sharedPalette)
            + GIFBlocks.loops(loopCount)
    }

    /// Takes a frame; it is written when the one after it is known.
    ///
    /// - Parameters:
    ///   - pixels: RGBA, 8 bits each, not premultiplied.
    ///   - hundredths: Of a second, how long it is shown.
    mutating func add(_ pixels: [UInt8], hundredths: Int) {
        let frame = IndexedColour.pixels(of: pixels)
        writeWaiting(next: frame)
        waiting = (frame, hundredths)
    }

    /// Shows the frame given last for longer.
    mutating func extend(by hundredths: Int) {
        guard let frame = waiting else { return }
        waiting = (frame.pixels, frame.hundredths.adding(clamping: hundredths))
    }

    private mutating func writeWaiting(next: [IndexedColour]?) {
        guard let frame = waiting else { return }
        let written = writer.write(frame.pixels, next: next, hundredths: min(frame.hundredths, 0xFFFF))
        frameBytes.append(written.count)
        // Bounded: a list.
        bytes += written
    }

    /// Writes the last frame and the end.
    mutating func finish() -> [UInt8] {
        writeWaiting(next: nil)
        waiting = nil
        // Bounded: lists.
        return bytes + GIFBlocks.trailer
    }

    /// Takes the last frame away again, and shows the one before it for longer; false when it is the only one.
    mutating func dropLast() -> Bool {
        guard waiting == nil, frameBytes.count > 1, let last = frameBytes.popLast(), let own = frameBytes.last else {
            return false
        }
        // Bounded throughout: both frames lie at the end of the bytes.
        let start = bytes.count - last
        let hundredths = GIFBlocks.hundredths(in: bytes, at: start)
        bytes.removeLast(last)
        GIFBlocks.extend(by: hundredths, in: &bytes, at: start - own)
        return true
    }
}
