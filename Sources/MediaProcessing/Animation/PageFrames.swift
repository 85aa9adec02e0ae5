import RichPush
import Vips

/// The frames of a GIF, composed by libvips, which streams them.
final class PageFrames: FrameSequence {
    let width: Int
    let height: Int
    let loopCount: Int
    private let delays: [Int]
    private let reader: PageReader
    private let deadline: ContinuousClock.Instant
    private var number = 0

    var count: Int { delays.count }

    static func gif(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws -> PageFrames {
        let walk = try GIFWalk.walk(ByteWindow(descriptor: descriptor, noun: "GIF", deadline: deadline))
        let picture = try Picture.open(descriptor: descriptor, pages: .all)
        let canvas = GIFCanvas(walk, decodedWidth: picture.width, decodedHeight: picture.height)
        return try PageFrames(
            picture, width: canvas.width, height: canvas.height, delays: walk.delaysMilliseconds,
            loopCount: walk.loopCount, deadline: deadline)
    }

    private init(
        _ picture: Picture, width: Int, height: Int, delays: [Int], loopCount: Int, deadline: ContinuousClock.Instant
    ) throws {
        try PictureLimits.check(width: width, height: height, frames: delays.count)
        try PictureLimits.check(width: picture.width, height: picture.height, frames: delays.count)
        self.width = width
        self.height = height
        self.delays = delays
        self.loopCount = loopCount
        self.deadline = deadline
        reader = try PageReader(picture)
    }

    func next() throws -> SequenceFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        guard let page = try reader.next() else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        defer { number += 1 }
        return SequenceFrame(pixels: onCanvas(page), delayMilliseconds: AnimationFrames.shown(delays[number]))
    }

    /// Cut where the decoder's area is larger than the canvas, transparent where it is smaller.
    private func onCanvas(_ page: [UInt8]) -> [UInt8] {
        guard reader.width != width || reader.height != height else { return page }
        // Bounded throughout: `PictureLimits` have been checked for both sizes.
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        let bytes = min(width, reader.width) * 4
        for row in 0..<min(height, reader.height) {
            let from = row * reader.width * 4
            pixels.replaceSubrange(row * width * 4..<row * width * 4 + bytes, with: page[from..<from + bytes])
        }
        return pixels
    }
}
