import AttachPrepModel
package import MediaTypes

/// Decodes the frames of an animation in order, as a device would show them: composed, in sRGB.
///
/// Frames can be read once, from first to last; for a second pass open the file again.
package protocol AnimationDecoder: AnyObject {
    /// Pixels of every frame.
    var width: Int { get }
    var height: Int { get }
    /// Number of frames that `next` returns.
    var count: Int { get }
    /// Number of plays; 0 is infinite.
    var loopCount: Int { get }
    /// The next frame; nil after the last.
    func next() throws -> AnimationFrame?
}

package struct AnimationFrame: Sendable {
    /// RGBA (not premultiplied), 8 bits each, rows without padding.
    package var pixels: [UInt8]
    /// Duration as devices show it: a delay of 10 ms or less in the file counts as 100 ms.
    package var delayMilliseconds: Int

    package init(pixels: [UInt8], delayMilliseconds: Int) {
        self.pixels = pixels
        self.delayMilliseconds = delayMilliseconds
    }
}

/// Selects the decoder of an animated image and opens it.
package enum AnimationDecoders {
    /// - Throws: `media.unsupported` for a format that has no animations, `media.corrupt`, `media.too_many_pixels`,
    ///   `media.too_many_frames`.
    package static func open(
        descriptor: CInt, format: MediaFormat, deadline: ContinuousClock.Instant
    ) throws -> any AnimationDecoder {
        guard let frames = try format.imageFormat?.animation(descriptor, deadline: deadline) else {
            throw AttachPrepError(
                .mediaUnsupported, "The file is not an animated image; send a GIF, WebP, APNG or AVIF.")
        }
        return frames
    }

    /// A delay as devices show it: browsers and iOS use 100 ms for delays up to 10 ms.
    static func shown(_ delayMilliseconds: Int) -> Int { delayMilliseconds <= 10 ? 100 : delayMilliseconds }
}
