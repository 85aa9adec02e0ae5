package import RichPush

/// Opens the frames of any animated image: the decision which decoder composes it.
package enum AnimationFrames {
    /// - Throws: `media.unsupported` for a format that has no animations, `media.corrupt`, `media.too_many_pixels`,
    ///   `media.too_many_frames`.
    package static func open(
        descriptor: CInt, format: MediaFormat, deadline: ContinuousClock.Instant
    ) throws -> any FrameSequence {
        switch format {
        case .gif:
            try GIFFrames(
                ByteWindow(descriptor: descriptor, noun: "GIF", deadline: deadline), deadline: deadline)
        case .webp: try WebPFrames(descriptor, deadline: deadline)
        case .png: try PNGFrames(descriptor, deadline: deadline)
        case .avif: try AVIFFrames(descriptor, deadline: deadline)
        default:
            throw AttachPrepError(.mediaUnsupported, "The file is no animated image; send a GIF, WebP, APNG or AVIF.")
        }
    }

    /// A delay as devices show it: browsers and iOS take up to 10 ms for 100 ms.
    static func shown(_ delayMilliseconds: Int) -> Int { delayMilliseconds <= 10 ? 100 : delayMilliseconds }
}
