import RichPush
import Vips

/// The frames of a WebP, composed by libvips, which holds all frames of one opening in memory: so a run of them at a
/// time is opened.
final class WebPFrames: FrameSequence {
    let width: Int
    let height: Int
    let loopCount: Int
    private let descriptor: CInt
    private let delays: [Int]
    private let deadline: ContinuousClock.Instant
    private let runLength: Int
    private var run: PageReader?
    private var number = 0

    var count: Int { delays.count }

    /// - Parameter runBytesMax: of the pixels of one run.
    init(
        _ descriptor: CInt, deadline: ContinuousClock.Instant, runBytesMax: Int = Limits.animationRunBytesMax
    ) throws {
        let walk = try WebPWalk.walk(ByteWindow(descriptor: descriptor, noun: "WebP", deadline: deadline))
        try PictureLimits.check(width: walk.width, height: walk.height, frames: walk.frames)
        (width, height) = (walk.width, walk.height)
        self.descriptor = descriptor
        self.deadline = deadline
        delays = walk.delaysMilliseconds
        loopCount = walk.loopCount
        // Bounded: `PictureLimits` have been checked, so neither side is 0.
        runLength = max(1, runBytesMax / (width * height * 4))
    }

    func next() throws -> SequenceFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        // Bounded: `PictureLimits` have been checked.
        guard let pixels = try nextPage(), pixels.count == width * height * 4 else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        defer { number += 1 }
        return SequenceFrame(pixels: pixels, delayMilliseconds: AnimationFrames.shown(delays[number]))
    }

    private func nextPage() throws -> [UInt8]? {
        if let page = try run?.next() { return page }
        // What the last run held is given back before the next one is decoded.
        run = nil
        // Bounded: numbers of frames.
        let pages = Picture.Pages.run(from: number, count: min(runLength, count - number))
        run = try PageReader(Picture.open(descriptor: descriptor, pages: pages))
        return try run?.next()
    }
}
