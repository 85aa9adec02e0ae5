import MediaEngine
import RichPush
import Vips

/// Renders any source: finds the picture that stands for it, stands it upright in sRGB, and writes what was asked for.
struct PictureRendering {
    let request: RenderRequest
    let source: CInt
    let still: StillRendering
    let deadline: ContinuousClock.Instant

    init(request: RenderRequest, source: CInt, outputs: [RenderOutput: OutputFile], deadline: ContinuousClock.Instant) {
        self.request = request
        self.source = source
        self.deadline = deadline
        still = StillRendering(request: request, outputs: outputs)
    }

    /// The one decision: which decoder shows the picture that was chosen.
    func render() throws -> RenderedMedia {
        switch request.picture {
        case .still where canReduceWhileDecoding: try renderReduced()
        case .still where request.format == .bmp: try still.render(bitmap())
        case .still where request.format == .gif: try still.render(animationFrame(0))
        case .still: try still.render(wholeStill())
        case .animationFrame(let number): try renderAnimationFrame(number)
        case .movieTime(let seconds): try renderMovieFrame(at: seconds)
        case .coverArt: try renderCoverArt()
        case .representative: throw AttachPrepError(.requestInvalid, "The representative picture is not there yet.")
        }
    }

    // MARK: Stills

    /// Only a thumbnail is wanted of a file that is delivered as it is: JPEG decodes to an eighth as it goes.
    private var canReduceWhileDecoding: Bool {
        request.attachment == nil && request.crop == nil && [.jpeg, .png].contains(request.format)
    }

    /// One pass: all lines are read, so a truncated file is found out as well.
    private func renderReduced() throws -> RenderedMedia {
        guard let box = request.thumbnail else {
            try openStill().decodeToEnd()
            return RenderedMedia()
        }
        let stored = try openStill()
        let swaps = Orientation(rawValue: stored.orientation)?.swapsSides ?? false
        let geometry = ThumbnailGeometry(
            pictureWidth: swaps ? stored.height : stored.width, pictureHeight: swaps ? stored.width : stored.height,
            box: box)
        let reduced = try Picture.openReduced(descriptor: source, width: geometry.width, height: geometry.height)
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(reduced.inSRGB().inMemory(), cut: geometry.cut)
        return rendered
    }

    private func openStill(_ pages: Picture.Pages = .primary) throws -> Picture {
        let picture = try Picture.open(descriptor: source, pages: pages)
        try PictureLimits.check(width: picture.width, height: picture.height)
        return picture
    }

    private func wholeStill(_ pages: Picture.Pages = .primary) throws -> Picture {
        try openStill(pages).upright().inSRGB().inMemory()
    }

    private func bitmap() throws -> Picture {
        try upright(StillDecoding.bmp(descriptor: source, deadline: deadline))
    }

    // MARK: Animations

    /// Animations up to this size are decoded once, all frames for soundness and one for the thumbnail. 128 MB.
    private static let frameStackPixelsMax = 32_000_000

    private func renderAnimationFrame(_ number: Int) throws -> RenderedMedia {
        var rendered = try still.render(animationFrame(number))
        rendered.sourcePosition = .frame(number)
        return rendered
    }

    private func animationFrame(_ number: Int) throws -> Picture {
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
        if header.width * header.height * header.pages <= Self.frameStackPixelsMax {
            let frames = try openStill(.all).inMemory()
            return try frames.area(left: 0, top: number * header.height, width: header.width, height: header.height)
        }
        try openStill(.all).decodeToEnd()
        return try openStill(.one(number)).inMemory()
    }

    // MARK: Movies and sounds

    private func renderMovieFrame(at seconds: Double) throws -> RenderedMedia {
        let frame = try MovieFrame.decode(
            descriptor: source, format: request.format, at: seconds, largestSide: largestSide, deadline: deadline)
        var rendered = try still.render(upright(frame))
        rendered.sourcePosition = frame.time.map { .seconds($0.roundedToMicroseconds) }
        return rendered
    }

    /// A movie frame is reduced early when nothing but a thumbnail comes of it.
    private var largestSide: Int? {
        guard request.crop == nil, let box = request.thumbnail, box.fit == .contain else { return nil }
        return max(box.width, box.height)
    }

    /// A cover that cannot be read is no reason to refuse the sound.
    private func renderCoverArt() throws -> RenderedMedia {
        guard let bytes = try CoverArt.picture(descriptor: source, format: request.format, deadline: deadline),
            let cover = try? Picture.open(encoded: bytes),
            (try? PictureLimits.check(width: cover.width, height: cover.height)) != nil,
            let picture = try? cover.upright().inSRGB().inMemory()
        else { return RenderedMedia() }
        return try still.render(picture)
    }

    /// Decoded pixels, turned first, then stretched along what was their width.
    private func upright(_ decoded: DecodedPicture) throws -> Picture {
        let turned = try Picture.wrap(
            pixels: decoded.bytes, width: decoded.width, height: decoded.height, bands: decoded.bands,
            orientation: decoded.orientation.rawValue
        ).upright()
        guard decoded.sampleAspectRatio != 1 else { return try turned.inMemory() }
        let across = Int((Double(decoded.width) * decoded.sampleAspectRatio).rounded())
        let swaps = decoded.orientation.swapsSides
        return try turned.stretched(
            width: swaps ? decoded.height : across, height: swaps ? across : decoded.height
        ).inMemory()
    }
}
