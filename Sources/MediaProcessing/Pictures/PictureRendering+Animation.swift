import MediaEngine
import RichPush
import Vips

/// A frame of an animation as the picture that is shown.
extension PictureRendering {
    func renderAnimationFrame(_ number: Int) throws -> RenderedMedia {
        var rendered = try request.format == .gif ? renderGIF(number) : still.render(composedFrame(number))
        rendered.sourcePosition = .frame(number)
        return rendered
    }

    /// A frame of a GIF, which may have no other.
    func renderGIF(_ number: Int) throws -> RenderedMedia {
        let frames = try GIFFrames(
            ByteWindow(descriptor: source, noun: "GIF", deadline: deadline), deadline: deadline)
        return try renderThumbnail(of: frames, number) ?? still.render(frames.picture(number).inSRGB().inMemory())
    }

    /// The quick way for a frame of which nothing but a thumbnail is made; nil where it does not lead to the end.
    private func renderThumbnail(of frames: GIFFrames, _ number: Int) throws -> RenderedMedia? {
        guard request.attachment == nil, request.crop == nil, let box = request.thumbnail,
            var rows = ReducedRows(
                width: frames.width, height: frames.height, samples: try frames.samples(of: number), box: box)
        else { return nil }
        try unsafe frames.readRows(of: number) { unsafe rows.take($0) }
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(rows.thumbnail())
        return rendered
    }

    /// A frame of an animation that is read from its beginning.
    private func composedFrame(_ number: Int) throws -> Picture {
        let frames = try AnimationFrames.open(descriptor: source, format: request.format, deadline: deadline)
        var left = number
        while let frame = try frames.next() {
            if left == 0 {
                return try Picture.wrap(
                    pixels: frame.pixels, width: frames.width, height: frames.height, bands: 4, orientation: 1)
            }
            left -= 1
        }
        throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
    }
}
