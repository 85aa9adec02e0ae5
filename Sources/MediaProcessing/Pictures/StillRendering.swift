import JPEG
import MediaEngine
import RichPush
import Vips

/// Attachment, crop and thumbnail from one upright sRGB picture in memory.
struct StillRendering {
    let request: RenderRequest
    let outputs: [RenderOutput: OutputFile]
    /// Bytes of the source.
    let sourceBytes: Int
    let clock: WorkClock
    /// Told what is written while the attachment is still to come.
    let progress: (RenderedMedia) -> Void

    /// Writes what the request asks for: what is cheap and shown first comes first, so that it is there when time
    /// runs out.
    func render(_ picture: Picture) throws -> RenderedMedia {
        let pace = EncodingPace(clock)
        // Bounded: the picture is in memory.
        pace.learn(pixels: picture.width * picture.height)
        var rendered = RenderedMedia()
        let part = try request.crop.map { try Self.part($0, of: picture) }
        rendered.clippingRect = part
        let cropped = try part.map { try Self.crop(picture, to: $0) }
        rendered.thumbnail = try thumbnail(of: cropped ?? picture)
        if let cropped {
            let still = try StillEncoding.encode(cropped, quality: StillEncoding.fullQuality)
            rendered.crop = try write(still, to: .crop)
        }
        if case .still(let rendition) = request.attachment {
            progress(rendered)
            try writeAttachment(picture, rendition, pace, in: &rendered)
        }
        return rendered
    }

    func writeAttachment(
        _ picture: Picture, _ rendition: StillRendition, _ pace: EncodingPace, in rendered: inout RenderedMedia
    ) throws {
        let ladder = StillLadder(
            rendition: rendition, isPNG: request.format == .png, sourceBytes: sourceBytes, pace: pace)
        let result = try ladder.encode(picture)
        rendered.attachment = RenderedAttachment(try write(result.still, to: .attachment))
        // Bounded: lists.
        rendered.concessions += result.concessions
        if pace.isShort, !result.concessions.isEmpty { rendered.degrade("The picture was written in less detail") }
    }

    private static func part(_ choice: CropChoice, of picture: Picture) throws -> ClippingRect {
        switch choice {
        case .part(let rect): rect
        case .smart(let ratio): try SmartCrop.rect(of: picture, ratio: ratio)
        }
    }

    private static func crop(_ picture: Picture, to rect: ClippingRect) throws -> Picture {
        let area = rect.pixels(width: picture.width, height: picture.height)
        return try picture.area(left: area.left, top: area.top, width: area.width, height: area.height)
    }

    private func thumbnail(of picture: Picture) throws -> RenderedPicture? {
        guard let box = request.thumbnail else { return nil }
        let geometry = ThumbnailGeometry(pictureWidth: picture.width, pictureHeight: picture.height, box: box)
        let isSame = geometry.width == picture.width && geometry.height == picture.height
        let reduced = isSame ? picture : try picture.reduced(width: geometry.width, height: geometry.height)
        return try writeThumbnail(reduced.inMemory(), cut: geometry.cut)
    }

    /// Cuts and writes a picture that has its size already.
    func writeThumbnail(_ reduced: Picture, cut: PixelRect?) throws -> RenderedPicture? {
        var picture = reduced
        if let cut {
            // Bounded throughout: the picture is in memory, and the corner lies in it.
            let (left, top) = (min(cut.left, reduced.width - 1), min(cut.top, reduced.height - 1))
            picture = try reduced.area(
                left: left, top: top, width: min(cut.width, reduced.width - left),
                height: min(cut.height, reduced.height - top))
        }
        return try write(StillEncoding.encode(picture, quality: StillEncoding.thumbnailQuality), to: .thumbnail)
    }

    /// Writes a picture that has its size and stands upright already.
    func writeThumbnail(_ picture: ReducedPicture) throws -> RenderedPicture {
        let quality = StillEncoding.thumbnailQuality
        let bytes = try JPEGEncoder.encode(
            pixels: picture.pixels, width: picture.width, height: picture.height, quality: quality,
            halvesChroma: quality < StillEncoding.fullQuality)
        try place(of: .thumbnail).write(bytes)
        return RenderedPicture(type: .jpeg, width: picture.width, height: picture.height, bytes: bytes.count)
    }

    private func write(_ still: EncodedStill, to output: RenderOutput) throws -> RenderedPicture {
        try place(of: output).write(still.bytes)
        return RenderedPicture(type: still.type, width: still.width, height: still.height, bytes: still.bytes.count)
    }

    /// Where a rendition goes.
    func place(of output: RenderOutput) throws -> OutputFile {
        guard let file = outputs[output] else {
            throw AttachPrepError(.internal, "A rendition has no place to go.", detail: "no output for \(output)")
        }
        return file
    }
}

extension RenderedMedia {
    /// Notes that time forced less; `what` begins the sentence.
    mutating func degrade(_ what: String) {
        isDegraded = true
        guard !warnings.contains(where: { $0.code == .deadlineDegraded }) else { return }
        warnings.append(
            PreparationWarning(.deadlineDegraded, "\(what), because time ran short; allow a larger budget."))
    }
}
