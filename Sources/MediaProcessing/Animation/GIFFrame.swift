/// The pixels of a GIF's frame, each a number of its colours.
struct GIFFrame {
    let block: GIFFrameBlock
    /// In the order in which they are stored.
    private let indices: [UInt8]
    /// Red, green, blue and alpha of each number, in the order of bytes in memory; 0 for those that show nothing.
    private let colours: [UInt32]
    /// Where a row of the frame is stored; as many as it has.
    private let places: [Int]

    // Bounded throughout: `PictureLimits` have been checked for the frame, and rows and columns are brought to it.

    /// - Throws: `media.corrupt` when pixels are missing.
    init(_ block: GIFFrameBlock, of window: ByteWindow) throws {
        self.block = block
        colours = try Self.colours(of: block, in: window)
        var places = [Int](repeating: 0, count: block.height)
        for (place, row) in block.storedRows.enumerated() { places[row] = place }
        self.places = places
        indices = try Self.indices(of: block, in: window)
    }

    /// Colours of a frame without any are black and white, as libnsgif has them.
    private static func colours(of block: GIFFrameBlock, in window: ByteWindow) throws -> [UInt32] {
        var colours = [UInt32](repeating: 0, count: 256)
        let bytes = block.colours.isEmpty ? [0, 0, 0, 255, 255, 255] : try window.all(in: block.colours)
        for place in 0..<bytes.count / 3 {
            let rgb = bytes[place * 3..<place * 3 + 3].reversed().reduce(UInt32(0xFF)) { $0 << 8 | UInt32($1) }
            colours[place] = UInt32(littleEndian: rgb)
        }
        if let transparent = block.transparent { colours[Int(transparent)] = 0 }
        return colours
    }

    private static func indices(of block: GIFFrameBlock, in window: ByteWindow) throws -> [UInt8] {
        let count = block.width * block.height
        var decoder = LZWDecoder(codeBits: Int(try window.byte(at: block.code)), pixels: count)
        let indices = try unsafe [UInt8](unsafeUninitializedCapacity: count) { pixels, filled in
            var isCode = true
            _ = try GIFWalk.end(ofSubBlocksAt: block.code + 1, of: window) { bytes in
                if isCode { isCode = unsafe decoder.take(bytes, into: pixels) }
            }
            if isCode, decoder.isComplete { filled = count }
        }
        guard indices.count == count else { throw window.broken("pixels are missing in a frame") }
        return indices
    }

    /// Draws what the frame has in a row of the canvas.
    ///
    /// - Parameters:
    ///   - row: From the canvas's top.
    ///   - pixels: The row, four bytes a pixel; what the frame leaves out stays.
    func draw(row: Int, over pixels: UnsafeMutableRawBufferPointer) {
        guard (block.top..<block.bottom).contains(row) else { return }
        let start = places[row - block.top] * block.width
        let columns = min(block.width, max(0, pixels.count / 4 - block.left))
        unsafe pixels.withMemoryRebound(to: UInt32.self) { pixels in
            unsafe indices.withUnsafeBufferPointer { indices in
                unsafe colours.withUnsafeBufferPointer { colours in
                    for column in 0..<columns {
                        let colour = unsafe colours[Int(indices[start &+ column])]
                        if colour != 0 { unsafe pixels[block.left &+ column] = colour }
                    }
                }
            }
        }
    }

    /// Writes red, green and blue of a row of a frame that covers the canvas and shows something everywhere.
    func write(row: Int, to bytes: UnsafeMutableBufferPointer<UInt8>) {
        let start = places[row] * block.width
        unsafe indices.withUnsafeBufferPointer { indices in
            unsafe colours.withUnsafeBufferPointer { colours in
                for column in 0..<bytes.count / 3 {
                    let colour = unsafe UInt32(littleEndian: colours[Int(indices[start &+ column])])
                    unsafe bytes[column &* 3] = UInt8(truncatingIfNeeded: colour)
                    unsafe bytes[column &* 3 &+ 1] = UInt8(truncatingIfNeeded: colour &>> 8)
                    unsafe bytes[column &* 3 &+ 2] = UInt8(truncatingIfNeeded: colour &>> 16)
                }
            }
        }
    }
}
