import MediaEngine
import RichPush
import Vips

/// A frame of an animation as the picture that is shown.
extension PictureRendering {
    func renderAnimationFrame(_ number: Int) throws -> RenderedMedia {
        var rendered = try still.render(animationFrame(number))
        rendered.sourcePosition = .frame(number)
        return rendered
    }

    func animationFrame(_ number: Int) throws -> Picture {
        request.format == .gif ? try gifFrame(number) : try composedFrame(number)
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

    private func gifFrame(_ number: Int) throws -> Picture {
        let header = try openStill()
        guard number < header.pages else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        let walk = try GIFWalk.walk(ByteWindow(descriptor: source, noun: "GIF", deadline: deadline))
        let canvas = GIFCanvas(walk, decodedWidth: header.width, decodedHeight: header.height)
        return try decodedFrame(number, header).onCanvas(width: canvas.width, height: canvas.height).inSRGB().inMemory()
    }

    private func decodedFrame(_ number: Int, _ header: Picture) throws -> Picture {
        // All frames for validation, and one for the thumbnail, from one pass.
        try request.isHurried ? openStill(.one(number)).inMemory() : openStill(.all).keptPage(number)
    }
}
