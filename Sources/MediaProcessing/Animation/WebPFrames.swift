import RichPush
import Vips
import WebP

/// The frames of a WebP, composed by libwebp.
final class WebPFrames: FrameSequence {
    let width: Int
    let height: Int
    let loopCount: Int
    private let delays: [Int]
    private let deadline: ContinuousClock.Instant
    private let animation: WebPAnimation
    /// Nil where the colours are sRGB's.
    private let profile: [UInt8]?
    private var number = 0

    var count: Int { delays.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        let window = try ByteWindow(descriptor: descriptor, noun: "WebP", deadline: deadline)
        let walk = try WebPWalk.walk(window)
        try PictureLimits.check(width: walk.width, height: walk.height, frames: walk.frames)
        (width, height) = (walk.width, walk.height)
        self.deadline = deadline
        delays = walk.delaysMilliseconds
        loopCount = walk.loopCount
        do { animation = try WebPAnimation(window.run(0..<window.size)) } catch is WebPError {
            throw window.broken("no frame that can be decoded")
        }
        guard animation.width == width, animation.height == height else { throw window.broken("canvas") }
        profile = animation.colourProfile.flatMap { ICCProfile.isSRGB($0) ? nil : $0 }
    }

    func next() throws -> SequenceFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        guard let pixels = try? animation.next() else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        defer { number += 1 }
        return SequenceFrame(pixels: try inSRGB(pixels), delayMilliseconds: AnimationFrames.shown(delays[number]))
    }

    private func inSRGB(_ pixels: [UInt8]) throws -> [UInt8] {
        guard let profile else { return pixels }
        return try Picture.wrap(
            pixels: pixels, width: width, height: height, bands: 4, orientation: 1, colourProfile: profile
        ).inSRGB().pixels()
    }
}
