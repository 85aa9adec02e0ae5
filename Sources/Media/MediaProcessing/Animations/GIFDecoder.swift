import AttachPrepModel
import MediaLibraries
import MediaTypes

/// Decodes the frames of a GIF on demand and composes them as browsers and iOS do.
package final class GIFDecoder: AnimationDecoder {
    package let width: Int
    package let height: Int
    package let loopCount: Int
    private let parser: GIFParser
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    private var canvas: GIFCanvas?
    private var number = 0

    package var count: Int { parser.frames }

    // Bounded throughout: `ImageLimits` have been checked.

    /// - Throws: `media.corrupt`, `media.too_many_frames`, `media.too_many_pixels`.
    package init(_ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        self.window = window
        parser = try GIFParser.parse(window)
        try ImageLimits.check(parser)
        (width, height, loopCount) = (parser.width, parser.height, parser.loopCount)
        self.deadline = deadline
    }

    package func next() throws -> AnimationFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        let block = parser.blocks[number]
        var canvas = canvas ?? GIFCanvas(width: width, height: height)
        self.canvas = nil
        canvas.draw(try GIFFrame(block, of: window))
        let pixels = canvas.pixels
        canvas.dispose(of: block)
        self.canvas = canvas
        number += 1
        return AnimationFrame(pixels: pixels, delayMilliseconds: AnimationDecoders.shown(block.delay))
    }

    // MARK: A single frame

    /// Samples of a pixel of a frame: 3 for RGB, 4 for RGBA.
    ///
    /// - Throws: `media.corrupt` for a frame number that does not exist.
    package func samples(of number: Int) throws -> Int {
        guard parser.blocks.indices.contains(number) else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); the file is corrupt.")
        }
        return try coversAll(number) ? 3 : 4
    }

    /// Whether a frame is opaque and covers the canvas.
    private func coversAll(_ number: Int) throws -> Bool {
        let block = parser.blocks[number]
        guard block.covers(width: width, height: height), block.transparent == nil else { return false }
        let bits = Int(try window.byte(at: block.code))
        return bits <= 8 && block.colors.count / 3 >= 1 << bits
    }

    /// Reads the rows of a composed frame from the top; decodes only the frames that are visible in it.
    ///
    /// - Parameter body: Called with each row, `width` times `samples(of:)` bytes; may modify it.
    /// - Throws: What `body` throws, `media.corrupt`.
    package func readRows(of number: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) throws -> Void) throws {
        let samples = try samples(of: number)
        let below = try number == 0 || samples == 3 ? nil : canvas(below: number)
        let frame = try GIFFrame(parser.blocks[number], of: window)
        let row = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: width * samples)
        defer { unsafe row.deallocate() }
        for y in 0..<height {
            try checkDeadline(deadline)
            if samples == 3 {
                unsafe frame.write(row: y, to: row)
            } else {
                let bytes = UnsafeMutableRawBufferPointer(row)
                unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
                if let below {
                    unsafe bytes.copyBytes(from: below.pixels[y * row.count..<(y + 1) * row.count])
                }
                unsafe frame.draw(row: y, over: bytes)
            }
            try unsafe body(row)
        }
    }

    /// The canvas before a frame is drawn, composed from the last frame that covered everything. Frames with disposal
    /// `restore` are skipped, since they leave nothing.
    private func canvas(below number: Int) throws -> GIFCanvas {
        var canvas = GIFCanvas(width: width, height: height)
        let first = try (0..<number).last { try parser.blocks[$0].disposal == .keep && coversAll($0) } ?? 0
        for block in parser.blocks[first..<number] where block.disposal != .restore {
            try checkDeadline(deadline)
            canvas.draw(try GIFFrame(block, of: window))
            canvas.dispose(of: block)
        }
        return canvas
    }

    /// A composed frame in memory.
    func image(at number: Int) throws -> Image {
        var pixels: [UInt8] = []
        try unsafe readRows(of: number) { row in
            if pixels.isEmpty { pixels.reserveCapacity(row.count * height) }
            unsafe pixels.append(contentsOf: row)
        }
        return try Image.wrap(
            pixels: pixels, width: width, height: height, bands: samples(of: number), orientation: 1)
    }
}

/// The RGBA canvas of a GIF, initially transparent.
struct GIFCanvas {
    private static let bytesPerPixel = 4

    let width: Int
    let height: Int
    /// Rows without padding.
    private(set) var pixels: [UInt8]
    /// The canvas before the current frame, if it must be restored.
    private var before: [UInt8]?

    // Bounded throughout: `ImageLimits` have been checked for the canvas and for each frame, and positions are limited
    // to both.

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        pixels = [UInt8](repeating: 0, count: width * height * Self.bytesPerPixel)
    }

    /// Draws a frame, clipped to the canvas.
    mutating func draw(_ frame: GIFFrame) {
        if frame.block.disposal == .restore { before = pixels }
        for row in frame.block.top..<max(frame.block.top, min(frame.block.bottom, height)) {
            let range = row * width * Self.bytesPerPixel..<(row + 1) * width * Self.bytesPerPixel
            unsafe pixels.withUnsafeMutableBytes { pixels in
                unsafe frame.draw(row: row, over: UnsafeMutableRawBufferPointer(rebasing: pixels[range]))
            }
        }
    }

    /// Applies the disposal of a frame that was drawn.
    mutating func dispose(of block: GIFFrameDescriptor) {
        switch block.disposal {
        case .keep: break
        case .clear: clear(block)
        case .restore: if let before { pixels = before }
        }
        before = nil
    }

    private mutating func clear(_ block: GIFFrameDescriptor) {
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

/// The pixels of a GIF frame as palette indexes.
struct GIFFrame {
    let block: GIFFrameDescriptor
    /// In stored order.
    private let indices: [UInt8]
    /// RGBA of each index in memory byte order; 0 for the transparent one.
    private let colors: [UInt32]
    /// The stored position of each row.
    private let storedIndices: [Int]

    // Bounded throughout: `ImageLimits` have been checked for the frame, and rows and columns are limited to it.

    /// - Throws: `media.corrupt` when pixels are missing.
    init(_ block: GIFFrameDescriptor, of window: ByteWindow) throws {
        self.block = block
        colors = try Self.colors(of: block, in: window)
        var storedIndices = [Int](repeating: 0, count: block.height)
        for (index, row) in block.storedRows.enumerated() { storedIndices[row] = index }
        self.storedIndices = storedIndices
        indices = try Self.indices(of: block, in: window)
    }

    /// The colors of a frame; without a color table black and white, as in libnsgif.
    private static func colors(of block: GIFFrameDescriptor, in window: ByteWindow) throws -> [UInt32] {
        var colors = [UInt32](repeating: 0, count: 256)
        let bytes = block.colors.isEmpty ? [0, 0, 0, 255, 255, 255] : try window.all(in: block.colors)
        for index in 0..<bytes.count / 3 {
            let rgb = bytes[index * 3..<index * 3 + 3].reversed().reduce(UInt32(0xFF)) { $0 << 8 | UInt32($1) }
            colors[index] = UInt32(littleEndian: rgb)
        }
        if let transparent = block.transparent { colors[Int(transparent)] = 0 }
        return colors
    }

    private static func indices(of block: GIFFrameDescriptor, in window: ByteWindow) throws -> [UInt8] {
        let count = block.width * block.height
        var decoder = LZWDecoder(codeBits: Int(try window.byte(at: block.code)), pixels: count)
        let indices = try unsafe [UInt8](unsafeUninitializedCapacity: count) { pixels, filled in
            var isCode = true
            _ = try GIFParser.end(ofSubBlocksAt: block.code + 1, of: window) { bytes in
                if isCode { isCode = unsafe decoder.decode(bytes, into: pixels) }
            }
            if isCode, decoder.isComplete { filled = count }
        }
        guard indices.count == count else { throw window.broken("pixels are missing in a frame") }
        return indices
    }

    /// Draws the frame's part of a canvas row.
    ///
    /// - Parameters:
    ///   - row: Row number from the canvas's top.
    ///   - pixels: The row, four bytes a pixel; transparent pixels leave it unchanged.
    func draw(row: Int, over pixels: UnsafeMutableRawBufferPointer) {
        guard (block.top..<block.bottom).contains(row) else { return }
        let start = storedIndices[row - block.top] * block.width
        let columns = min(block.width, max(0, pixels.count / 4 - block.left))
        unsafe pixels.withMemoryRebound(to: UInt32.self) { pixels in
            unsafe indices.withUnsafeBufferPointer { indices in
                unsafe colors.withUnsafeBufferPointer { colors in
                    for column in 0..<columns {
                        let color = unsafe colors[Int(indices[start &+ column])]
                        if color != 0 { unsafe pixels[block.left &+ column] = color }
                    }
                }
            }
        }
    }

    /// Writes RGB of a row of an opaque frame that covers the canvas.
    func write(row: Int, to bytes: UnsafeMutableBufferPointer<UInt8>) {
        let start = storedIndices[row] * block.width
        unsafe indices.withUnsafeBufferPointer { indices in
            unsafe colors.withUnsafeBufferPointer { colors in
                for column in 0..<bytes.count / 3 {
                    let color = unsafe UInt32(littleEndian: colors[Int(indices[start &+ column])])
                    unsafe bytes[column &* 3] = UInt8(truncatingIfNeeded: color)
                    unsafe bytes[column &* 3 &+ 1] = UInt8(truncatingIfNeeded: color &>> 8)
                    unsafe bytes[column &* 3 &+ 2] = UInt8(truncatingIfNeeded: color &>> 16)
                }
            }
        }
    }
}
