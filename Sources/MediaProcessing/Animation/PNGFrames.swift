import RichPush
import Vips

/// The frames of an animated PNG, composed here: each one is made a PNG of its own, and libvips decodes it with its
/// colours, which neither libvips nor libav does for the whole.
final class PNGFrames: FrameSequence {
    let width: Int
    let height: Int
    let loopCount: Int
    private let delays: [Int]
    private let walk: PNGFrameWalk
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    private var canvas: [UInt8]
    private var number = 0

    var count: Int { delays.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        window = try ByteWindow(descriptor: descriptor, noun: "PNG", deadline: deadline)
        let chunks = try PNGChunkWalk.walk(window)
        try PictureLimits.check(width: chunks.width, height: chunks.height, frames: chunks.frames)
        walk = try PNGFrameWalk.walk(window, width: chunks.width, height: chunks.height)
        guard chunks.isAnimated else {
            throw AttachPrepError(.mediaUnsupported, "The PNG is not animated; convert it as a still.")
        }
        (width, height, loopCount) = (chunks.width, chunks.height, chunks.loopCount)
        delays = chunks.delaysMilliseconds
        self.deadline = deadline
        // Bounded: `PictureLimits` have been checked.
        canvas = [UInt8](repeating: 0, count: chunks.width * chunks.height * 4)
    }

    func next() throws -> SequenceFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        defer { number += 1 }
        let frame = walk.frames[number]
        let before = frame.disposal == 2 && number > 0 ? canvas : nil
        lay(try pixels(of: frame), frame)
        let shown = canvas
        if let before { canvas = before } else if frame.disposal != 0 { clear(frame) }
        return SequenceFrame(pixels: shown, delayMilliseconds: AnimationFrames.shown(delays[number]))
    }

    private func pixels(of frame: PNGFrameWalk.Frame) throws -> [UInt8] {
        let picture = try Picture.open(encoded: file(of: frame), isWhole: true)
        guard picture.width == frame.width, picture.height == frame.height else { throw window.broken("frame size") }
        let pixels = try picture.inSRGB().withAlpha().pixels()
        // Bounded: by the canvas.
        guard pixels.count == frame.width * frame.height * 4 else { throw window.broken("frame bands") }
        return pixels
    }

    // MARK: A frame as a file

    private func file(of frame: PNGFrameWalk.Frame) throws -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Bounded: lists.
        let size = Self.bigEndian(frame.width) + Self.bigEndian(frame.height)
        // Bounded: lists.
        file += Self.chunk("IHDR", size + walk.headerRest) + walk.shared
        for range in frame.data { file += Self.chunk("IDAT", try window.run(range)) }
        return file + Self.chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + content
        // Bounded: lists.
        return bigEndian(content.count) + checked + bigEndian(Int(clamping: PNGChecksum.of(checked)))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        // Bounded: four bytes.
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    // MARK: The canvas

    // Bounded throughout: frames lie on the canvas, as `PNGFrameWalk` has seen, and have as many pixels as their sides
    // say; a mean of bytes is a byte, and its weights are not all 0.

    private func lay(_ pixels: [UInt8], _ frame: PNGFrameWalk.Frame) {
        for row in 0..<frame.height {
            let source = row * frame.width * 4
            let target = ((frame.top + row) * width + frame.left) * 4
            if frame.blends {
                for column in 0..<frame.width { blend(pixels, source + column * 4, target + column * 4) }
            } else {
                canvas.replaceSubrange(
                    target..<target + frame.width * 4, with: pixels[source..<source + frame.width * 4])
            }
        }
    }

    private func blend(_ pixels: [UInt8], _ source: Int, _ target: Int) {
        let (over, under) = (Int(pixels[source + 3]), Int(canvas[target + 3]))
        if over == 0 { return }
        let kept = under * (255 - over)
        let sum = over * 255 + kept
        for band in 0..<3 {
            let mixed = Int(pixels[source + band]) * over * 255 + Int(canvas[target + band]) * kept
            canvas[target + band] = UInt8((mixed + sum / 2) / sum)
        }
        canvas[target + 3] = UInt8((sum + 127) / 255)
    }

    private func clear(_ frame: PNGFrameWalk.Frame) {
        for row in frame.top..<frame.top + frame.height {
            let start = (row * width + frame.left) * 4
            canvas.replaceSubrange(
                start..<start + frame.width * 4, with: repeatElement(0, count: frame.width * 4))
        }
    }
}
