import RichPush
import Vips
import WebP

/// The frames of a WebP, composed by libwebp.
final class WebPFrames: FrameSequence {
    let width: Int
    let height: Int
    let loopCount: Int
    private let delays: [Int]
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    /// Opened with the first frame: some callers want the size alone.
    private var animation: WebPAnimation?
    private var number = 0

    var count: Int { delays.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        window = try ByteWindow(descriptor: descriptor, noun: "WebP", deadline: deadline)
        let walk = try WebPWalk.walk(window)
        try PictureLimits.check(width: walk.width, height: walk.height, frames: walk.frames)
        (width, height) = (walk.width, walk.height)
        self.deadline = deadline
        delays = walk.delaysMilliseconds
        loopCount = walk.loopCount
    }

    func next() throws -> SequenceFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        let animation = try animation ?? open()
        self.animation = animation
        guard let pixels = try? animation.next() else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        defer { number += 1 }
        return SequenceFrame(
            pixels: try inSRGB(pixels, animation.colourProfile),
            delayMilliseconds: AnimationFrames.shown(delays[number]))
    }

    private func open() throws -> WebPAnimation {
        guard let opened = try? WebPAnimation(window.run(0..<window.size)), opened.width == width,
            opened.height == height
        else { throw window.broken("no animation that can be decoded") }
        return opened
    }

    private func inSRGB(_ pixels: [UInt8], _ profile: [UInt8]?) throws -> [UInt8] {
        guard let profile, !ICCProfile.isSRGB(profile) else { return pixels }
        return try Picture.wrap(
            pixels: pixels, width: width, height: height, bands: 4, orientation: 1, colourProfile: profile
        ).inSRGB().pixels()
    }
}
