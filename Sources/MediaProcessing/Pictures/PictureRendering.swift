import MediaEngine
import RichPush
import SafeArithmetic
import Vips

/// Renders any source: finds the picture that stands for it, stands it upright in sRGB, and writes what was asked for.
struct PictureRendering {
    let request: RenderRequest
    let source: CInt
    let still: StillRendering
    let clock: WorkClock

    var deadline: ContinuousClock.Instant { clock.deadline }

    init(
        request: RenderRequest, source: CInt, outputs: [RenderOutput: OutputFile], clock: WorkClock,
        progress: @escaping (RenderedMedia) -> Void = { _ in }
    ) throws {
        self.request = request
        self.source = source
        self.clock = clock
        let size = try ByteWindow(descriptor: source, noun: "picture", deadline: clock.deadline).size
        still = StillRendering(request: request, outputs: outputs, sourceBytes: size, clock: clock, progress: progress)
    }

    /// Writes what was asked for.
    func render() throws -> RenderedMedia {
        if isRepair { return try renderRepaired() }
        if let stripped = try renderStripped() { return stripped }
        return try renderChosen()
    }

    /// The one decision: which decoder shows the picture that was chosen.
    private func renderChosen() throws -> RenderedMedia {
        switch request.picture {
        case .still where canReduceWhileDecoding: try renderReduced()
        case .still where request.format == .bmp: try still.render(bitmap())
        case .still where request.format == .gif: try renderGIF(0)
        case .still where request.format.isHEIF: try renderHEIF()
        case .still where request.format == .webp: try renderWebP()
        case .still: try renderIntact()
        case .animationFrame(let number): try renderAnimationFrame(number)
        case .movieTime(let seconds): try renderMovieFrame(at: seconds)
        case .coverArt: try renderCoverArt()
        case .representative: try renderRepresentative()
        }
    }

    // MARK: Repairs

    private var isRepair: Bool {
        if case .still(let rendition) = request.attachment { rendition.isRepair } else { false }
    }

    /// What can be read of a damaged picture, written anew.
    private func renderRepaired() throws -> RenderedMedia {
        guard request.format == .jpeg else {
            throw AttachPrepError(.internal, "Only JPEGs are repaired.", detail: "\(request.format)")
        }
        var rendered = try still.render(upright(DamagedJPEG.picture(source: source, deadline: deadline)))
        rendered.warnings.append(
            PreparationWarning(.mediaRepaired, "The picture was damaged; what could be read of it was kept."))
        return rendered
    }

    // MARK: Stills

    private static let strippable: [MediaFormat: AttachmentType] = [.jpeg: .jpeg, .png: .png]

    /// An attachable still that has to lose nothing but its metadata keeps its pixels as they are coded.
    private func renderStripped() throws -> RenderedMedia? {
        guard case .still(let rendition) = request.attachment, request.picture == .still,
            let type = Self.strippable[request.format]
        else { return nil }
        let stored = try openStill()
        let isShownAsStored = stored.orientation == 1 && stored.colour != "cmyk"
        guard isShownAsStored, max(stored.width, stored.height) <= rendition.longSideMax ?? .max,
            let strip = try MetadataStrip(request.format, source: source, deadline: deadline),
            strip.bytes <= rendition.bytesMax
        else { return nil }
        var others = request
        others.attachment = nil
        // Its pixels are read to their end all the same: a truncated one must not pass.
        var rendered = try PictureRendering(request: others, source: source, outputs: still.outputs, clock: clock)
            .renderChosen()
        try strip.write(to: still.place(of: .attachment))
        rendered.attachment = RenderedAttachment(
            RenderedPicture(type: type, width: stored.width, height: stored.height, bytes: strip.bytes))
        return rendered
    }

    /// Only a thumbnail is wanted of a file that is delivered as it is: JPEG decodes to an eighth as it goes, WebP to
    /// any size.
    private var canReduceWhileDecoding: Bool {
        request.attachment == nil && request.crop == nil && [.jpeg, .png, .webp].contains(request.format)
    }

    /// One pass: all lines are read, so a truncated file is found out as well.
    private func renderReduced() throws -> RenderedMedia {
        guard let box = request.thumbnail else {
            try StillValidation.requireIntact(request.format, source: source)
            try openStill().decodeToEnd()
            return RenderedMedia()
        }
        if let rendered = try renderReducedDirectly(box) { return rendered }
        try StillValidation.requireIntact(request.format, source: source)
        let stored = try openStill()
        let geometry = Self.geometry(of: stored, in: box)
        let reduced =
            try stored.colour == "cmyk"
            ? reducedCMYK(stored, to: geometry)
            : Picture.openReduced(descriptor: source, width: geometry.width, height: geometry.height)
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(reduced.inSRGB().inMemory(), cut: geometry.cut)
        return rendered
    }

    /// Upright. libvips would convert a picture in CMYK before it reduces it, which takes three times as long.
    private func reducedCMYK(_ stored: Picture, to geometry: ThumbnailGeometry) throws -> Picture {
        let swaps = Orientation(rawValue: stored.orientation)?.swapsSides ?? false
        let (width, height) = swaps ? (geometry.height, geometry.width) : (geometry.width, geometry.height)
        let eighths = JPEGReduction.eighths(
            width: stored.width, height: stored.height, target: (width: width, height: height))
        return try Picture.openReducedAsStored(
            // Bounded: one of 1, 2, 4 and 8.
            descriptor: source, shrink: 8 / eighths, width: width, height: height
        ).upright()
    }

    private static func geometry(of stored: Picture, in box: ThumbnailRendition) -> ThumbnailGeometry {
        let swaps = Orientation(rawValue: stored.orientation)?.swapsSides ?? false
        return ThumbnailGeometry(
            pictureWidth: swaps ? stored.height : stored.width, pictureHeight: swaps ? stored.width : stored.height,
            box: box)
    }

    /// The thumbnail of a picture whose end is still to come.
    ///
    /// - Throws: `internal` for what cannot be worked on like that, whatever it is.
    func renderArriving(_ arrival: Arrival) throws -> RenderedMedia {
        guard let box = request.thumbnail, let rendered = try renderReducedDirectly(box, arrival) else {
            throw AttachPrepError(.internal, "The picture cannot be worked on while it arrives.")
        }
        return rendered
    }

    /// The quick way for what is plain; nil where it does not lead to the end, and libvips has the word.
    private func renderReducedDirectly(_ box: ThumbnailRendition, _ arrival: Arrival? = nil) throws -> RenderedMedia? {
        switch request.format {
        case .jpeg: try renderReducedJPEG(box, arrival)
        case .png: try renderReducedPNG(box, arrival)
        default: nil
        }
    }

    private func renderReducedPNG(_ box: ThumbnailRendition, _ arrival: Arrival?) throws -> RenderedMedia? {
        guard let png = try ReducedPNG(source: source, deadline: deadline, arrival),
            let thumbnail = try png.thumbnail(in: box)
        else { return nil }
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(thumbnail)
        return rendered
    }

    private func renderReducedJPEG(_ box: ThumbnailRendition, _ arrival: Arrival?) throws -> RenderedMedia? {
        guard let jpeg = try ReducedJPEG(source: source, deadline: deadline),
            case let colours = try jpeg.colours(), let picture = try jpeg.thumbnail(in: box, colours, arrival)
        else { return nil }
        var rendered = RenderedMedia()
        if case .managed(let profile) = colours {
            let managed = try Picture.wrap(
                pixels: picture.isGrey ? picture.luma : picture.rgb, width: picture.width, height: picture.height,
                bands: picture.isGrey ? 1 : 3, orientation: 1, colourProfile: profile)
            rendered.thumbnail = try still.writeThumbnail(managed.inSRGB().inMemory(), cut: nil)
        } else {
            rendered.thumbnail = try still.writeThumbnail(picture)
        }
        return rendered
    }

    func openStill(_ pages: Picture.Pages = .primary) throws -> Picture {
        if request.format.isHEIF {
            try HEIFWalk.check(ByteWindow(descriptor: source, noun: "HEIF", deadline: deadline))
        }
        let picture = try Picture.open(descriptor: source, pages: pages)
        try PictureLimits.check(width: picture.width, height: picture.height, format: request.format)
        _ = try StillMemory.decoderBytes(picture, format: request.format, source: source, deadline: deadline)
        return picture
    }

    /// By libav where the file is plain, else by libvips and libheif.
    private func renderHEIF() throws -> RenderedMedia {
        try HEIFWalk.check(ByteWindow(descriptor: source, noun: "HEIF", deadline: deadline))
        let plain = try HEIFStill.decode(source: source, format: request.format, deadline: deadline)
        return try plain.map(still.render) ?? renderWhole()
    }

    /// By libwebp where the file is plain, else by libvips; a crop, which shows single pixels, too.
    private func renderWebP() throws -> RenderedMedia {
        let plain = request.crop == nil ? try WebPStill.decode(source: source, deadline: deadline) : nil
        return try plain.map(still.render) ?? renderWhole()
    }

    /// As `renderWhole`, of a file whose data was validated.
    private func renderIntact() throws -> RenderedMedia {
        try StillValidation.requireIntact(request.format, source: source)
        return try renderWhole()
    }

    /// The still upright and in memory; as large as memory and the rendition allow.
    private func renderWhole() throws -> RenderedMedia {
        let stored = try openStill()
        let memory = try StillMemory(stored, format: request.format, source: source, deadline: deadline)
        guard let side = memory.longSide(wanted: wantedLongSide) else {
            return try still.render(stored.upright().inSRGB().inMemory())
        }
        let picture = try reduced(stored, side: side)
        var rendered = try still.render(picture)
        if memory.isShort, side != wantedLongSide {
            rendered.concessions.insert(
                "the picture was reduced to \(picture.width) x \(picture.height) to be held in memory", at: 0)
        }
        return rendered
    }

    private func reduced(_ stored: Picture, side: Int) throws -> Picture {
        let reducesInDecoder = [.jpeg, .png, .webp].contains(request.format)
        return try
            (reducesInDecoder
            ? Picture.openReduced(descriptor: source, width: side, height: side)
            : stored.reduced(width: side, height: side).upright()).inSRGB().inMemory()
    }

    /// Nothing larger comes of it than the attachment's side; a crop is cut at full resolution.
    private var wantedLongSide: Int? {
        guard request.crop == nil, case .still(let rendition) = request.attachment else { return nil }
        return rendition.longSideMax
    }

    private func bitmap() throws -> Picture {
        try upright(StillDecoding.bmp(descriptor: source, deadline: deadline))
    }

    // MARK: Movies and sounds

    private func renderMovieFrame(at seconds: Double) throws -> RenderedMedia {
        // Decoding ends early enough for what is made of the frame.
        let frame = try MovieFrame.decode(
            descriptor: source, format: request.format, at: seconds, largestSide: largestSide,
            clock: clock.share(Self.frameShare, until: clock.deadline))
        return try render(frame)
    }

    /// Renders a movie's frame.
    func render(_ frame: DecodedPicture) throws -> RenderedMedia {
        var rendered = try still.render(upright(frame))
        // Bounded: floating point.
        rendered.sourcePosition = frame.time.map { .seconds($0.roundedToMicroseconds) }
        if !frame.isExact { rendered.degrade("A frame before the wanted time is shown") }
        return rendered
    }

    /// The part of the time that may go by before the nearest frame is taken for the wanted one.
    private static let frameShare = 0.7

    private func renderRepresentative() throws -> RenderedMedia {
        guard request.format.kind == .movie else {
            let frames = try AnimationFrames.open(descriptor: source, format: request.format, deadline: deadline)
            return try renderAnimationFrame(RepresentativePicture.number(in: frames, clock: clock))
        }
        let seconds = try RepresentativeFrame.time(descriptor: source, format: request.format, clock: clock)
        return try renderMovieFrame(at: seconds)
    }

    /// A movie frame is reduced early when nothing but a thumbnail comes of it.
    private var largestSide: Int? { request.crop == nil ? request.thumbnail?.largestSide : nil }

    /// A cover is reduced as it is decoded; one that cannot be read is no reason to refuse the sound.
    private func renderCoverArt() throws -> RenderedMedia {
        guard let box = request.thumbnail,
            let bytes = try CoverArt.picture(descriptor: source, format: request.format, deadline: deadline),
            CoverArt.isHarmless(bytes), let cover = try? Picture.open(encoded: bytes),
            (try? PictureLimits.check(width: cover.width, height: cover.height)) != nil,
            cover.width.multiplied(clamping: cover.height) <= Limits.coverArtPixelsMax,
            case let geometry = Self.geometry(of: cover, in: box),
            let reduced = try? Picture.openReduced(encoded: bytes, width: geometry.width, height: geometry.height),
            let picture = try? reduced.inSRGB().inMemory()
        else { return RenderedMedia() }
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(picture, cut: geometry.cut)
        return rendered
    }

    /// Decoded pixels, turned first, then stretched along what was their width.
    private func upright(_ decoded: DecodedPicture) throws -> Picture {
        let turned = try Picture.wrap(
            pixels: decoded.bytes, width: decoded.width, height: decoded.height, bands: decoded.bands,
            orientation: decoded.orientation.rawValue
        ).upright()
        guard decoded.sampleAspectRatio != 1 else { return try turned.inMemory() }
        let across = max(1, Int(clamping: (Double(decoded.width) * decoded.sampleAspectRatio).rounded()))
        let swaps = decoded.orientation.swapsSides
        return try turned.stretched(
            width: swaps ? decoded.height : across, height: swaps ? across : decoded.height
        ).inMemory()
    }
}
