import AttachPrepModel
import MediaLibraries
import MediaTypes

/// Decodes the frames of a WebP; libwebp composes them.
final class WebPAnimationDecoder: AnimationDecoder {
    let width: Int
    let height: Int
    let loopCount: Int
    private let delays: [Int]
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    /// Opened with the first frame, since some callers need only the size.
    private var animation: WebPAnimation?
    private var number = 0

    var count: Int { delays.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        window = try ByteWindow(descriptor: descriptor, noun: "WebP", deadline: deadline)
        let parser = try WebPParser.parse(window)
        try ImageLimits.check(width: parser.width, height: parser.height, frames: parser.frames)
        (width, height) = (parser.width, parser.height)
        self.deadline = deadline
        delays = parser.delaysMilliseconds
        loopCount = parser.loopCount
    }

    func next() throws -> AnimationFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        let animation = try animation ?? open()
        self.animation = animation
        guard let pixels = try? animation.next() else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); the file is corrupt.")
        }
        defer { number += 1 }
        return AnimationFrame(
            pixels: try inSRGB(pixels, profile: animation.colorProfile),
            delayMilliseconds: AnimationDecoders.shown(delays[number]))
    }

    private func open() throws -> WebPAnimation {
        guard let opened = try? WebPAnimation(window.run(0..<window.size)), opened.width == width,
            opened.height == height
        else { throw window.broken("no animation that can be decoded") }
        return opened
    }

    private func inSRGB(_ pixels: [UInt8], profile: [UInt8]?) throws -> [UInt8] {
        guard let profile, !ICCProfile.isSRGB(profile) else { return pixels }
        return try Image.wrap(
            pixels: pixels, width: width, height: height, bands: 4, orientation: 1, colorProfile: profile
        ).inSRGB().pixels()
    }
}

/// Parses the chunks of a WebP up to the end that its header declares: canvas, animation, and that the file is
/// complete.
///
/// Source: Google, "WebP Container Specification".
package struct WebPParser: Sendable, Hashable {
    /// The canvas in pixels; 0 for a still without an extended header.
    package private(set) var width = 0
    package private(set) var height = 0
    /// Whether the header declares an animation.
    package private(set) var isAnimated = false
    /// Delay of each frame in milliseconds, as stored.
    package private(set) var delaysMilliseconds: [Int] = []
    /// Number of plays; 0 is infinite.
    package private(set) var loopCount = 0

    /// Number of frames in the file.
    package var frames: Int { isAnimated ? delaysMilliseconds.count : 1 }

    /// Seconds of one play; a delay of up to 10 ms counts as 100 ms, as in browsers.
    package var duration: Double {
        delaysMilliseconds.reduce(0.0) { $0 + Double(AnimationDecoders.shown($1)) / 1000 }
    }

    /// Parses the file; data after the declared end is ignored.
    ///
    /// - Throws: `media.corrupt` when a chunk or the file is truncated, `media.too_many_frames`.
    package static func parse(_ window: ByteWindow) throws -> WebPParser {
        var parser = WebPParser()
        try WebPChunks.parse(window) { type, content in
            try parser.read(type, at: content.lowerBound, size: content.count, of: window)
            return true
        }
        if parser.isAnimated, parser.delaysMilliseconds.isEmpty { throw window.broken("no frame") }
        return parser
    }

    private mutating func read(_ type: String, at offset: Int, size: Int, of window: ByteWindow) throws {
        // Bounded throughout: the content lies in the file, and sides have three bytes.
        switch type {
        case "VP8X" where size >= 10:
            isAnimated = try window.byte(at: offset) & 2 != 0
            width = try window.littleEndian(at: offset + 4, bytes: 3) + 1
            height = try window.littleEndian(at: offset + 7, bytes: 3) + 1
        case "ANIM" where size >= 6:
            loopCount = try window.littleEndian(at: offset + 4, bytes: 2)
        case "ANMF" where size >= 16 && isAnimated:
            if delaysMilliseconds.count == Limits.animationFramesMax { throw tooManyFrames("WebP") }
            delaysMilliseconds.append(try window.littleEndian(at: offset + 12, bytes: 3))
        default: break
        }
    }
}
