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
        try renderGIFThumbnail(number) ?? still.render(gifFrame(number).inSRGB().inMemory())
    }

    /// The quick way for a frame of which nothing but a thumbnail is made; nil where it does not lead to the end.
    private func renderGIFThumbnail(_ number: Int) throws -> RenderedMedia? {
        guard request.attachment == nil, request.crop == nil, let box = request.thumbnail,
            case let frame = try colouredFrame(number),
            var rows = ReducedRows(width: frame.width, height: frame.height, samples: frame.bands, box: box)
        else { return nil }
        try unsafe frame.readRows { row in
            try checkDeadline(deadline)
            unsafe rows.take(row)
        }
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(rows.thumbnail())
        return rendered
    }

    /// With one, three or four bands: grey with alpha has become colours.
    private func colouredFrame(_ number: Int) throws -> Picture {
        let frame = try gifFrame(number)
        return frame.bands == 2 ? try frame.inSRGB() : frame
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

    /// Inspection has seen that all frames are there; composed is no more than what is shown.
    private func gifFrame(_ number: Int) throws -> Picture {
        let walk = try GIFWalk.walk(ByteWindow(descriptor: source, noun: "GIF", deadline: deadline))
        guard number < walk.frames else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        let frame = try openStill(.one(number))
        let canvas = GIFCanvas(walk, decodedWidth: frame.width, decodedHeight: frame.height)
        return try frame.onCanvas(width: canvas.width, height: canvas.height)
    }
}
