import MediaEngine
import MediaLibraries
import MediaTypes

// MARK: Decoded by libvips

/// Source: Adobe, "TIFF Revision 6.0"; the BigTIFF design of libtiff.
struct TIFFFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        let image = try open(inspection.source, pages: .primary, deadline: inspection.deadline)
        return try inspection.inspect(image, decoding: inspection.request.decodesStills)
    }

    func open(_ source: CInt, pages: Image.Pages, deadline: ContinuousClock.Instant) throws -> Image {
        try TIFFValidator.parse(ByteWindow(descriptor: source, noun: "TIFF", deadline: deadline)).open(source)
    }
}

/// Source: ISO/IEC 15444-1, annex I.
struct JPEG2000Format: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia { try inspection.inspectStill() }
}

/// Source: ISO/IEC 18181-2.
struct JPEGXLFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        let header = try JPEGXLHeader.parse(inspection.window("JPEG XL image"))
        try header.requireSupported()
        try ImageLimits.check(width: header.width, height: header.height)
        try DecodingMemory.check(header)
        return try inspection.inspectStill()
    }

    /// The decoded image, which the loader holds as a whole.
    func decoderBytes(of stored: Image, source: CInt, deadline: ContinuousClock.Instant) throws -> Int {
        stored.width * stored.height * stored.bands * stored.sampleBytes
    }
}

/// Source: W3C, "Scalable Vector Graphics 1.1".
struct SVGFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        inspection.described(try SVGRenderer.image(descriptor: inspection.source, deadline: inspection.deadline))
    }

    func render(with renderer: ImageRenderer) throws -> RenderedMedia {
        try renderer.still.render(SVGRenderer.image(descriptor: renderer.source, deadline: renderer.deadline))
    }
}

// MARK: Decoded by libav

/// Source: Microsoft, "Bitmap Storage".
struct BMPFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        let (source, deadline) = (inspection.source, inspection.deadline)
        let size = try BMPDecoder.bmpSize(descriptor: source, deadline: deadline)
        try ImageLimits.check(width: size.width, height: size.height)
        let hasAlpha =
            try inspection.request.decodesStills
            && BMPDecoder.bmp(descriptor: source, deadline: deadline).bands == 4
        return inspection.described(width: size.width, height: size.height, hasAlpha: hasAlpha)
    }

    func render(with renderer: ImageRenderer) throws -> RenderedMedia {
        let frame = try BMPDecoder.bmp(descriptor: renderer.source, deadline: renderer.deadline)
        return try renderer.still.render(renderer.upright(frame))
    }
}

/// Source: Microsoft, "Icons".
struct IconFormat: ImageFormat {
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia {
        inspection.described(try IconDecoder.image(descriptor: inspection.source, deadline: inspection.deadline))
    }

    func render(with renderer: ImageRenderer) throws -> RenderedMedia {
        try renderer.still.render(IconDecoder.image(descriptor: renderer.source, deadline: renderer.deadline))
    }
}
