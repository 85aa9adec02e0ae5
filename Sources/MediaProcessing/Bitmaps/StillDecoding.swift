import LibAV
import RichPush

/// Stills that libvips cannot read and libav can.
package enum StillDecoding {
    /// Width and height of a BMP in pixels, from its header alone.
    ///
    /// - Throws: `media.corrupt`, `media.unsupported`, `media.too_many_pixels`.
    package static func bmpSize(
        descriptor: CInt, deadline: ContinuousClock.Instant
    ) throws -> (width: Int, height: Int) {
        let header = try BMPHeader.read(ByteWindow(descriptor: descriptor, noun: "BMP", deadline: deadline))
        return (header.width, header.height)
    }

    /// Decodes a BMP.
    ///
    /// - Throws: `media.corrupt` when it is cut or does not decode, `media.unsupported`, `media.too_many_pixels`,
    ///   `deadline.exceeded`.
    package static func bmp(descriptor: CInt, deadline: ContinuousClock.Instant) throws -> DecodedPicture {
        let window = try ByteWindow(descriptor: descriptor, noun: "BMP", deadline: deadline)
        try BMPHeader.read(window).checkPixels(window)
        var bytes = try content(window)
        // Writers forget to fill their file size in, and libav believes it.
        // Bounded: four bytes of a header that is there.
        for index in 0..<4 { bytes[2 + index] = UInt8(truncatingIfNeeded: bytes.count >> (8 * index)) }
        return try readingMedia { try decode(bytes, broken: window.broken("no picture")) }
    }

    private static func content(_ window: ByteWindow) throws -> [UInt8] {
        if window.size > Limits.imageSourceBytesMax {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The BMP is \(window.size) bytes, over \(Limits.imageSourceBytesMax); send a smaller one.")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(window.size)
        while bytes.count < window.size {
            // Bounded throughout: by `imageSourceBytesMax`.
            let part = try window.bytes(
                at: bytes.count, count: min(Limits.walkWindowBytes, window.size - bytes.count))
            if part.isEmpty { throw window.cut }
            bytes += part
        }
        return bytes
    }

    private static func decode(_ bytes: [UInt8], broken: AttachPrepError) throws -> DecodedPicture {
        let decoder = try Decoder.bmp(pixelsMax: Limits.picturePixelsMax)
        let frame = try Frame()
        _ = try decoder.send(Packet.holding(bytes))
        guard try decoder.receive(into: frame) == .frame else { throw broken }
        let hasAlpha = frame.pixelFormat?.hasAlpha == true
        let pixels = try FrameScaler.pixels(
            of: frame, width: frame.width, height: frame.height, layout: hasAlpha ? .rgba8 : .rgb8)
        return DecodedPicture(width: frame.width, height: frame.height, bands: hasAlpha ? 4 : 3, bytes: pixels)
    }
}
