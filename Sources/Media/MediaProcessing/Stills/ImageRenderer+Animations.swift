import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes

/// Rendering one frame of an animation.
extension ImageRenderer {
    func renderAnimationFrame(_ number: Int) throws -> RenderedMedia {
        var rendered = try request.format == .gif ? renderGIF(number) : still.render(composedFrame(number))
        rendered.sourcePosition = .frame(number)
        return rendered
    }

    /// Renders a frame of a GIF, also of a still one.
    func renderGIF(_ number: Int) throws -> RenderedMedia {
        let frames = try GIFDecoder(
            ByteWindow(descriptor: source, noun: "GIF", deadline: deadline), deadline: deadline)
        return try renderThumbnail(of: frames, number) ?? still.render(frames.image(at: number).inSRGB().inMemory())
    }

    /// Fast path for a frame of which only a thumbnail is needed; nil where it does not apply.
    private func renderThumbnail(of frames: GIFDecoder, _ number: Int) throws -> RenderedMedia? {
        guard request.attachment == nil, request.crop == nil, request.targets.isEmpty, request.thumbnail != nil,
            var rows = RowThumbnailer(
                width: frames.width, height: frames.height, samples: try frames.samples(of: number),
                request: request)
        else { return nil }
        try unsafe frames.readRows(of: number) { unsafe rows.append($0) }
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(rows.thumbnail())
        return rendered
    }

    /// A frame of an animation that must be composed from its beginning.
    private func composedFrame(_ number: Int) throws -> Image {
        let frames = try AnimationDecoders.open(descriptor: source, format: request.format, deadline: deadline)
        var remaining = number
        while let frame = try frames.next() {
            if remaining == 0 {
                return try Image.wrap(
                    pixels: frame.pixels, width: frames.width, height: frames.height, bands: 4, orientation: 1)
            }
            remaining -= 1
        }
        throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); the file is corrupt.")
    }
}
