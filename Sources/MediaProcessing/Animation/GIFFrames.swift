import RichPush
import Vips

/// The frames of a GIF, composed as browsers and iOS compose them; each is decoded when it is asked for.
package final class GIFFrames: FrameSequence {
    package let width: Int
    package let height: Int
    package let loopCount: Int
    private let walk: GIFWalk
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    private var canvas: GIFCanvas?
    private var number = 0

    package var count: Int { walk.frames }

    // Bounded throughout: `PictureLimits` have been checked.

    /// - Throws: `media.corrupt`, `media.too_many_frames`, `media.too_many_pixels`.
    package init(_ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        self.window = window
        walk = try GIFWalk.walk(window)
        try PictureLimits.check(walk)
        (width, height, loopCount) = (walk.width, walk.height, walk.loopCount)
        self.deadline = deadline
    }

    package func next() throws -> SequenceFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        let block = walk.blocks[number]
        var canvas = canvas ?? GIFCanvas(width: width, height: height)
        self.canvas = nil
        canvas.draw(try GIFFrame(block, of: window))
        let pixels = canvas.pixels
        canvas.dispose(of: block)
        self.canvas = canvas
        number += 1
        return SequenceFrame(pixels: pixels, delayMilliseconds: AnimationFrames.shown(block.delay))
    }

    // MARK: A single frame

    /// Samples of a pixel of a frame: 3 for red, green and blue, 4 with alpha.
    ///
    /// - Throws: `media.corrupt` for a frame that is not there.
    package func samples(of number: Int) throws -> Int {
        guard walk.blocks.indices.contains(number) else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        return try coversAll(number) ? 3 : 4
    }

    /// Whether nothing can be seen of what lies below a frame.
    private func coversAll(_ number: Int) throws -> Bool {
        let block = walk.blocks[number]
        guard block.covers(width: width, height: height), block.transparent == nil else { return false }
        let bits = Int(try window.byte(at: block.code))
        return bits <= 8 && block.colours.count / 3 >= 1 << bits
    }

    /// Reads the rows of a frame from the top, and decodes no frame that is not seen in it.
    ///
    /// - Parameter take: Given each row, `width` times `samples(of:)` bytes that it may change.
    /// - Throws: What `take` throws, `media.corrupt`.
    package func readRows(of number: Int, _ take: (UnsafeMutableBufferPointer<UInt8>) throws -> Void) throws {
        let samples = try samples(of: number)
        let below = try number == 0 || samples == 3 ? nil : canvas(below: number)
        let frame = try GIFFrame(walk.blocks[number], of: window)
        let row = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: width * samples)
        defer { unsafe row.deallocate() }
        for place in 0..<height {
            try checkDeadline(deadline)
            if samples == 3 {
                unsafe frame.write(row: place, to: row)
            } else {
                let bytes = UnsafeMutableRawBufferPointer(row)
                unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
                if let below {
                    unsafe bytes.copyBytes(from: below.pixels[place * row.count..<(place + 1) * row.count])
                }
                unsafe frame.draw(row: place, over: bytes)
            }
            try unsafe take(row)
        }
    }

    /// What a frame is drawn on: all since the last frame that covered everything. A frame after which the canvas is as
    /// before leaves nothing there.
    private func canvas(below number: Int) throws -> GIFCanvas {
        var canvas = GIFCanvas(width: width, height: height)
        let first = try (0..<number).last { try walk.blocks[$0].disposal == .keep && coversAll($0) } ?? 0
        for block in walk.blocks[first..<number] where block.disposal != .restore {
            try checkDeadline(deadline)
            canvas.draw(try GIFFrame(block, of: window))
            canvas.dispose(of: block)
        }
        return canvas
    }

    /// A frame in memory.
    func picture(_ number: Int) throws -> Picture {
        var pixels: [UInt8] = []
        try unsafe readRows(of: number) { row in
            if pixels.isEmpty { pixels.reserveCapacity(row.count * height) }
            unsafe pixels.append(contentsOf: row)
        }
        return try Picture.wrap(
            pixels: pixels, width: width, height: height, bands: samples(of: number), orientation: 1)
    }
}
