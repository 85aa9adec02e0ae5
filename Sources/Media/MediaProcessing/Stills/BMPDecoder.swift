import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Decodes BMP files, which libvips cannot read, with libav.
package enum BMPDecoder {
    /// Width and height of a BMP in pixels, read from its header.
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
    /// - Throws: `media.corrupt` when it is truncated or does not decode, `media.unsupported`, `media.too_many_pixels`,
    ///   `deadline.exceeded`.
    package static func bmp(descriptor: CInt, deadline: ContinuousClock.Instant) throws -> DecodedFrame {
        let window = try ByteWindow(descriptor: descriptor, noun: "BMP", deadline: deadline)
        try BMPHeader.read(window).checkPixels(window)
        var bytes = try content(window)
        // Some writers leave out the file size, and libav relies on it.
        // Bounded: four bytes of a header that is there.
        for index in 0..<4 { bytes[2 + index] = UInt8(truncatingIfNeeded: bytes.count >> (8 * index)) }
        return try readingMedia { try decode(bytes, broken: window.broken("no image data")) }
    }

    private static func content(_ window: ByteWindow) throws -> [UInt8] {
        if window.size > Limits.imageSourceBytesMax {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The BMP is \(window.size) bytes, over the limit of \(Limits.imageSourceBytesMax); send a smaller one.")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(window.size)
        while bytes.count < window.size {
            // Bounded throughout: by `imageSourceBytesMax`.
            let part = try window.bytes(
                at: bytes.count, count: min(Limits.parseWindowBytes, window.size - bytes.count))
            if part.isEmpty { throw window.cut }
            bytes += part
        }
        return bytes
    }

    /// Decodes a whole BMP in memory.
    static func decode(_ bytes: [UInt8], broken: AttachPrepError) throws -> DecodedFrame {
        let decoder = try Decoder.bmp(pixelsMax: Limits.imagePixelsMax)
        let frame = try Frame()
        _ = try decoder.send(Packet.holding(bytes))
        guard try decoder.receive(into: frame) == .frame else { throw broken }
        let hasAlpha = frame.pixelFormat?.hasAlpha == true
        let pixels = try FrameScaler.pixels(
            of: frame, width: frame.width, height: frame.height, layout: hasAlpha ? .rgba8 : .rgb8)
        return DecodedFrame(width: frame.width, height: frame.height, bands: hasAlpha ? 4 : 3, bytes: pixels)
    }
}

/// The fields of a BMP's 54-byte header, and a check that its pixel data is complete.
///
/// Source: Microsoft, BITMAPFILEHEADER, BITMAPCOREHEADER, BITMAPINFOHEADER.
package struct BMPHeader: Sendable, Hashable {
    /// Width in pixels; `height` likewise.
    package let width: Int
    package let height: Int
    /// Bits per pixel.
    package let depth: Int
    private let pixelOffset: Int
    private let compression: Int

    private enum Compression {
        static let none = 0
        static let runs8 = 1
        static let runs4 = 2
        static let bitFields = 3
        static let alphaBitFields = 6
        static let all: Set<Int> = [none, runs8, runs4, bitFields, alphaBitFields]
    }

    /// - Throws: `media.corrupt` for a header that contradicts itself, `media.unsupported` for JPEG or PNG inside,
    ///   `media.too_many_pixels`.
    package static func read(_ window: ByteWindow) throws -> BMPHeader {
        guard try window.characters(at: 0, count: 2) == "BM" else { throw window.broken("no BMP signature") }
        let header = try BMPHeader(window)
        let depths: Set<Int> = [1, 4, 8, 16, 24, 32]
        guard header.width > 0, header.height > 0, depths.contains(header.depth), header.pixelOffset >= 26 else {
            throw window.broken("BMP header")
        }
        guard Compression.all.contains(header.compression) else {
            throw AttachPrepError(.mediaUnsupported, "The BMP contains another file format; send a JPEG or a PNG.")
        }
        if header.width.multiplied(clamping: header.height) > Limits.imagePixelsMax {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The BMP is \(header.width) x \(header.height), over the limit of \(Limits.imagePixelsMax) "
                    + "pixels; send a smaller one."
            )
        }
        return header
    }

    private init(_ window: ByteWindow) throws {
        pixelOffset = try window.littleEndian(at: 10, bytes: 4)
        // The OS/2 1.x header has sides of two bytes.
        if try window.littleEndian(at: 14, bytes: 4) == 12 {
            width = try window.littleEndian(at: 18, bytes: 2)
            height = try window.littleEndian(at: 20, bytes: 2)
            depth = try window.littleEndian(at: 24, bytes: 2)
            compression = Compression.none
        } else {
            width = Int(clamping: Int32(truncatingIfNeeded: try window.littleEndian(at: 18, bytes: 4)))
            // A negative height means that rows are stored from top to bottom.
            height = abs(Int(clamping: Int32(truncatingIfNeeded: try window.littleEndian(at: 22, bytes: 4))))
            depth = try window.littleEndian(at: 28, bytes: 2)
            compression = try window.littleEndian(at: 30, bytes: 4)
        }
    }

    /// - Throws: `media.corrupt` when the file ends before the last pixel. The padding of the last row may be missing.
    package func checkPixels(_ window: ByteWindow) throws {
        if compression == Compression.runs8 || compression == Compression.runs4 { return try checkRuns(window) }
        // Bounded throughout: `read` limits pixels to `imagePixelsMax` and depths to 32; an offset has four bytes.
        let rowBytes = (width * depth + 7) / 8
        let stride = (width * depth + 31) / 32 * 4
        if pixelOffset + stride * (height - 1) + rowBytes > window.size { throw window.cut }
    }

    /// Run-length data ends with an end-of-bitmap code; if that is missing, all rows must be there.
    private func checkRuns(_ window: ByteWindow) throws {
        // Bounded throughout: an offset has four bytes, and advances by at most 256 while it lies in the file.
        var offset = pixelOffset
        var rows = 0
        while true {
            if offset + 2 > window.size {
                if rows >= height { return }
                throw window.cut
            }
            let count = try window.byte(at: offset)
            let value = Int(try window.byte(at: offset + 1))
            offset += 2
            if count > 0 { continue }
            switch value {
            case 0: rows += 1
            case 1: return
            case 2: offset += 2
            default:
                let bytes = compression == Compression.runs4 ? (value + 1) / 2 : value
                offset += bytes + bytes % 2
            }
        }
    }
}
