import RichPush

/// The chunks of a WebP, walked to the end that its header declares: canvas, animation, and that the file is whole.
///
/// Source: Google, "WebP Container Specification".
package struct WebPWalk: Sendable, Hashable {
    /// The canvas in pixels; 0 for a still without an extended header.
    package private(set) var width = 0
    package private(set) var height = 0
    /// Whether its header says that frames follow.
    package private(set) var isAnimated = false
    /// Delay of each frame in milliseconds, as the file has it.
    package private(set) var delaysMilliseconds: [Int] = []
    /// How often it plays; 0 is for ever.
    package private(set) var loopCount = 0

    /// Pictures of the file.
    package var frames: Int { isAnimated ? delaysMilliseconds.count : 1 }

    /// Seconds of one play; a delay of up to 10 ms is taken for 100 ms, as browsers do.
    package var duration: Double {
        delaysMilliseconds.reduce(0.0) { $0 + Double(AnimationFrames.shown($1)) / 1000 }
    }

    /// Walks the file; what follows the declared end is nobody's.
    ///
    /// - Throws: `media.corrupt` when a chunk or the file is cut, `media.too_many_frames`.
    package static func walk(_ window: ByteWindow) throws -> WebPWalk {
        var walk = WebPWalk()
        try WebPChunks.walk(window) { type, content in
            try walk.read(type, at: content.lowerBound, size: content.count, of: window)
            return true
        }
        if walk.isAnimated, walk.delaysMilliseconds.isEmpty { throw window.broken("no frame") }
        return walk
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
