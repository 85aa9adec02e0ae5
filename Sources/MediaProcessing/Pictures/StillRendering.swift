import MediaEngine
import RichPush
import Vips

/// Attachment, crop and thumbnail from one upright sRGB picture in memory.
struct StillRendering {
    let request: RenderRequest
    let outputs: [RenderOutput: OutputFile]

    /// Writes what the request asks for.
    func render(_ picture: Picture) throws -> RenderedMedia {
        var rendered = RenderedMedia()
        if case .still(let attachment) = request.attachment {
            let still = try StillEncoding.encode(
                picture, quality: StillEncoding.fullQuality, bytesMax: attachment.bytesMax)
            rendered.attachment = RenderedAttachment(try write(still, to: .attachment))
            rendered.concessions = still.concessions
        }
        let part = try request.crop.map { try Self.part($0, of: picture) }
        rendered.clippingRect = part
        let cropped = try part.map { try Self.crop(picture, to: $0) }
        if let cropped {
            let still = try StillEncoding.encode(cropped, quality: StillEncoding.fullQuality)
            rendered.crop = try write(still, to: .crop)
        }
        rendered.thumbnail = try thumbnail(of: cropped ?? picture)
        return rendered
    }

    private static func part(_ choice: CropChoice, of picture: Picture) throws -> ClippingRect {
        switch choice {
        case .part(let rect): return rect
        case .smart: throw AttachPrepError(.requestInvalid, "The smart crop is not there yet.")
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
            let (left, top) = (min(cut.left, reduced.width - 1), min(cut.top, reduced.height - 1))
            picture = try reduced.area(
                left: left, top: top, width: min(cut.width, reduced.width - left),
                height: min(cut.height, reduced.height - top))
        }
        return try write(StillEncoding.encode(picture, quality: StillEncoding.thumbnailQuality), to: .thumbnail)
    }

    private func write(_ still: StillEncoding.Result, to output: RenderOutput) throws -> RenderedPicture {
        guard let file = outputs[output] else {
            throw AttachPrepError(.internal, "A rendition has no place to go.", detail: "no output for \(output)")
        }
        try file.write(still.bytes)
        return RenderedPicture(type: still.type, width: still.width, height: still.height, bytes: still.bytes.count)
    }
}
