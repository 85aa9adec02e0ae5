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

    /// Inspection has seen that all frames are there; composed is no more than what is shown.
    private func gifFrame(_ number: Int) throws -> Picture {
        let walk = try GIFWalk.walk(ByteWindow(descriptor: source, noun: "GIF", deadline: deadline))
        guard number < walk.frames else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); it is broken.")
        }
        let frame = try openStill(.one(number))
        let canvas = GIFCanvas(walk, decodedWidth: frame.width, decodedHeight: frame.height)
        let shown = try frame.onCanvas(width: canvas.width, height: canvas.height).inSRGB()
        // What is read once is reduced as it comes.
        return isThumbnailAlone ? shown : try shown.inMemory()
    }

    private var isThumbnailAlone: Bool { request.attachment == nil && request.crop == nil }
}
