import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Renders any source: selects the image to show, makes it upright in sRGB, and writes the requested renditions.
struct ImageRenderer {
    let request: RenderRequest
    let source: CInt
    let still: ImageRenditionWriter
    let clock: WorkClock

    var deadline: ContinuousClock.Instant { clock.deadline }

    init(
        request: RenderRequest, source: CInt, outputs: [RenderOutput: OutputFile], clock: WorkClock,
        progress: @escaping (RenderedMedia) -> Void = { _ in }
    ) throws {
        self.request = request
        self.source = source
        self.clock = clock
        let size = try ByteWindow(descriptor: source, noun: "image", deadline: clock.deadline).size
        still = ImageRenditionWriter(
            request: request, outputs: outputs, sourceBytes: size, clock: clock, progress: progress)
    }

    /// Writes the requested renditions.
    func render() throws -> RenderedMedia {
        if isRepair { return try renderRepaired() }
        if let stripped = try renderStripped() { return stripped }
        return try renderChosen()
    }

    /// Selects the decoder for the requested image.
    private func renderChosen() throws -> RenderedMedia {
        switch request.frameSelection {
        case .still where canReduceWhileDecoding: try renderReduced()
        case .still: try request.format.imageFormat?.render(with: self) ?? validateAndRender()
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

    /// Encodes the readable part of a damaged image.
    private func renderRepaired() throws -> RenderedMedia {
        guard request.format == .jpeg else {
            throw AttachPrepError(.internal, "Only JPEGs are repaired.", detail: "\(request.format)")
        }
        let (frame, defect) = try JPEGRepair.repairedImage(source: source, deadline: deadline)
        var rendered = try still.render(upright(frame))
        if case .damage = defect {
            rendered.warnings.append(
                PreparationWarning(.mediaRepaired, "The image was damaged; only the readable part was kept."))
        }
        return rendered
    }

    // MARK: Stills

    private static let strippable: [MediaFormat: AttachmentType] = [.jpeg: .jpeg, .png: .png]

    /// For an attachable still that must lose nothing but its metadata: copies its coded pixels unchanged.
    private func renderStripped() throws -> RenderedMedia? {
        guard case .still(let rendition) = request.attachment, request.frameSelection == .still,
            let type = Self.strippable[request.format]
        else { return nil }
        let stored = try openStill()
        let isShownAsStored = stored.orientation == 1 && stored.interpretation != "cmyk"
        guard isShownAsStored, max(stored.width, stored.height) <= rendition.longSideMax ?? .max,
            let strip = try MetadataStripper(request.format, source: source, deadline: deadline),
            strip.bytes <= rendition.bytesMax
        else { return nil }
        var others = request
        others.attachment = nil
        // The pixels are still decoded to the end, so that a truncated file is detected.
        var rendered = try ImageRenderer(request: others, source: source, outputs: still.outputs, clock: clock)
            .renderChosen()
        try strip.write(to: still.outputFile(of: .attachment))
        rendered.attachment = RenderedAttachment(
            RenderedImage(type: type, width: stored.width, height: stored.height, bytes: strip.bytes))
        return rendered
    }

    /// Whether only a thumbnail of an unchanged file is needed: JPEG can be decoded at an eighth of its size, WebP at
    /// any size.
    private var canReduceWhileDecoding: Bool {
        request.attachment == nil && request.crop == nil && isReducedWhileDecoding
    }

    private var isReducedWhileDecoding: Bool { request.format.imageFormat?.isReducedWhileDecoding == true }

    /// One pass that reads all lines, so that a truncated file is detected.
    private func renderReduced() throws -> RenderedMedia {
        guard needsImage else {
            try StillValidator.requireIntact(request.format, source: source)
            try openStill().decodeToEnd()
            return RenderedMedia()
        }
        if let rendered = try renderReducedDirectly() { return rendered }
        try StillValidator.requireIntact(request.format, source: source)
        let stored = try openStill()
        let geometry = geometry(of: stored)
        let shown: Image
        let colors = try declaredColors()
        if colors != nil || isTurnedByText {
            // Converted first, since light is averaged in other values otherwise.
            let upright = try stored.upright()
            shown = try (colors?.inSRGB(upright) ?? upright.inSRGB())
                .reduced(width: geometry.width, height: geometry.height).inMemory()
        } else if stored.interpretation == "cmyk" {
            shown = try reducedCMYK(stored, to: geometry).inSRGB().inMemory()
        } else {
            shown = try Image.openReduced(descriptor: source, width: geometry.width, height: geometry.height)
                .inSRGB().inMemory()
        }
        return try renderReduced(shown, cut: geometry.cut)
    }

    private var needsImage: Bool { request.thumbnail != nil || !request.targets.isEmpty }

    /// Writes what is made of an image that was reduced while it was decoded.
    func renderReduced(_ image: Image, cut: PixelRect?) throws -> RenderedMedia {
        guard !request.hasPictures else { return try still.render(image) }
        var rendered = RenderedMedia()
        rendered.thumbnail = try still.writeThumbnail(image, cut: cut)
        try rendered.warn(ifInvisible: image)
        return rendered
    }

    /// Upright. libvips would convert CMYK before reducing, which takes three times as long.
    private func reducedCMYK(_ stored: Image, to geometry: ThumbnailGeometry) throws -> Image {
        let swaps = Orientation(rawValue: stored.orientation)?.swapsSides ?? false
        let (width, height) = swaps ? (geometry.height, geometry.width) : (geometry.width, geometry.height)
        let eighths = JPEGDecodeScale.eighths(
            width: stored.width, height: stored.height, target: (width: width, height: height))
        return try Image.openReducedAsStored(
            descriptor: source, shrink: 8 / eighths, width: width, height: height
        ).upright()
    }

    private func geometry(of stored: Image) -> ThumbnailGeometry {
        let swaps = Orientation(rawValue: stored.orientation)?.swapsSides ?? false
        return ThumbnailGeometry(
            request, imageWidth: swaps ? stored.height : stored.width,
            imageHeight: swaps ? stored.width : stored.height)
    }

    /// Makes the thumbnail of an image that is still being downloaded.
    ///
    /// - Throws: `internal` for any kind of file that cannot be decoded this way.
    func renderDownloading(_ download: DownloadingFile) throws -> RenderedMedia {
        guard needsImage, let rendered = try renderReducedDirectly(download) else {
            throw AttachPrepError(.internal, "The image cannot be decoded before its download is complete.")
        }
        return rendered
    }

    /// Fast path for plain files; nil where it does not apply or fails; libvips is used then.
    private func renderReducedDirectly(_ download: DownloadingFile? = nil) throws -> RenderedMedia? {
        try request.format.imageFormat?.renderReduced(with: self, download)
    }

    /// Whether it has an orientation that libvips does not know of.
    private var isTurnedByText: Bool { request.format.imageFormat?.textOrientation(source) != nil }

    func openStill(_ pages: Image.Pages = .primary) throws -> Image {
        let image =
            try request.format.imageFormat?.open(source, pages: pages, deadline: deadline)
            ?? Image.open(descriptor: source, pages: pages)
        try ImageLimits.check(width: image.width, height: image.height, format: request.format)
        _ = try DecodingMemory.decoderBytes(image, format: request.format, source: source, deadline: deadline)
        return image
    }

    /// As `renderWhole`, after validating the file's data.
    func validateAndRender() throws -> RenderedMedia {
        try StillValidator.requireIntact(request.format, source: source)
        return try renderWhole()
    }

    /// The still, upright and in memory, as large as memory and the rendition allow.
    func renderWhole() throws -> RenderedMedia {
        let stored = try openStill()
        let memory = try DecodingMemory(stored, format: request.format, source: source, deadline: deadline)
        let wantedLongSide = wantedLongSide(of: stored)
        guard let side = memory.longSide(wanted: wantedLongSide) else {
            return try still.render(inSRGB(stored.upright()).inMemory())
        }
        let image = try reduced(stored, side: side)
        var rendered = try still.render(image)
        if memory.isShort, side != wantedLongSide {
            rendered.reductions.insert(
                "the image was reduced to \(image.width) x \(image.height) to fit in memory", at: 0)
        }
        return rendered
    }

    private func reduced(_ stored: Image, side: Int) throws -> Image {
        // With a profile, light would be averaged after a conversion that is still to come.
        let inLight = request.format != .jpeg && !stored.has("icc-profile-data") && stored.interpretation == "srgb"
        let reducesInDecoder = isReducedWhileDecoding && !isTurnedByText && !inLight
        return try inSRGB(
            reducesInDecoder
                ? Image.openReduced(descriptor: source, width: side, height: side)
                : stored.reduced(width: side, height: side, inLight: inLight).upright()
        ).inMemory()
    }

    /// From the colors that the file declares, by a profile or otherwise.
    private func inSRGB(_ image: Image) throws -> Image {
        try declaredColors()?.inSRGB(image) ?? image.inSRGB()
    }

    private func declaredColors() throws -> DeclaredColors? {
        try DeclaredColors.read(
            request.format, in: ByteWindow(descriptor: source, noun: "image", deadline: deadline))
    }

    /// The attachment's maximum side, since nothing larger is needed; a crop is cut at full resolution. Targets may
    /// need more of a portrait.
    private func wantedLongSide(of stored: Image) -> Int? {
        guard request.crop == nil, case .still(let rendition) = request.attachment, let side = rendition.longSideMax
        else { return nil }
        guard !request.targets.isEmpty else { return side }
        let swaps = Orientation(rawValue: stored.orientation)?.swapsSides ?? false
        var others = request
        others.attachment = nil
        let size = DecodedSize(
            others, imageWidth: swaps ? stored.height : stored.width,
            imageHeight: swaps ? stored.width : stored.height)
        return size.longSide.map { max($0, side) }
    }

    // MARK: Movies and audio

    private func renderMovieFrame(at seconds: Double) throws -> RenderedMedia {
        // Decoding must end early enough to leave time for encoding.
        let frame = try FrameExtractor.decode(
            descriptor: source, format: request.format, at: seconds, for: request,
            clock: clock.share(Self.frameShare, until: clock.deadline))
        return try render(frame)
    }

    /// Renders a movie's frame.
    func render(_ frame: DecodedFrame) throws -> RenderedMedia {
        var rendered = try still.render(upright(frame))
        rendered.sourcePosition = frame.time.map { .seconds($0.roundedToMicroseconds) }
        if !frame.isExact { rendered.degrade("A frame before the requested time is shown") }
        return rendered
    }

    /// The share of the time after which the nearest decoded frame is used.
    private static let frameShare = 0.7

    private func renderRepresentative() throws -> RenderedMedia {
        guard request.format.kind == .movie else {
            let frames = try AnimationDecoders.open(descriptor: source, format: request.format, deadline: deadline)
            return try renderAnimationFrame(RepresentativeAnimationFrame.number(in: frames, clock: clock))
        }
        let seconds = try RepresentativeMovieFrame.time(descriptor: source, format: request.format, clock: clock)
        return try renderMovieFrame(at: seconds)
    }

    /// Cover art is reduced while it is decoded; unreadable cover art is no reason to reject the audio.
    private func renderCoverArt() throws -> RenderedMedia {
        guard needsImage,
            let bytes = try CoverArt.image(descriptor: source, format: request.format, deadline: deadline),
            CoverArt.isHarmless(bytes), let cover = try? Image.open(encoded: bytes),
            (try? ImageLimits.check(width: cover.width, height: cover.height)) != nil,
            cover.width.multiplied(clamping: cover.height) <= Limits.coverArtPixelsMax,
            case let geometry = geometry(of: cover),
            let reduced = try? Image.openReduced(encoded: bytes, width: geometry.width, height: geometry.height),
            let image = try? (CoverArt.colors(bytes)?.inSRGB(reduced) ?? reduced.inSRGB()).inMemory()
        else { return RenderedMedia() }
        return try renderReduced(image, cut: geometry.cut)
    }

    /// Decoded pixels, rotated first, then stretched along what was their width.
    func upright(_ decoded: DecodedFrame) throws -> Image {
        let turned = try Image.wrap(
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

/// Runs decoders that are faster than libvips, but support fewer files.
enum FastPath {
    /// Nil for a file that the body cannot decode; it may still be intact, and libvips, which supports more, is used
    /// then.
    ///
    /// - Throws: `deadline.exceeded`.
    static func attempt<Result>(_ body: () throws -> Result?) throws -> Result? {
        do {
            return try body()
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            throw error
        } catch {
            return nil
        }
    }
}

extension Limits {
    /// Shops sell covers of 3,000 x 3,000; over 6,000 x 6,000 the audio is converted without its cover.
    static let coverArtPixelsMax = 36_000_000
}
