import RichPush
import SafeArithmetic

/// What a BMP says of itself in its first 54 bytes, and whether its pixels are there.
///
/// Source: Microsoft, BITMAPFILEHEADER, BITMAPCOREHEADER, BITMAPINFOHEADER.
package struct BMPHeader: Sendable, Hashable {
    /// Pixels.
    package let width: Int
    package let height: Int
    /// Bits a pixel.
    package let depth: Int
    private let pixelOffset: Int
    private let compression: Int

    private enum Compression {
        static let none = 0
        static let runs8 = 1
        static let runs4 = 2
        static let bitFields = 3
        static let alphaBitFields = 6
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
        guard [0, 1, 2, 3, 6].contains(header.compression) else {
            throw AttachPrepError(.mediaUnsupported, "The BMP holds another file format; send a JPEG or a PNG.")
        }
        if header.width.multiplied(clamping: header.height) > Limits.picturePixelsMax {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The BMP is \(header.width) x \(header.height), over \(Limits.picturePixelsMax) pixels; send "
                    + "a smaller one."
            )
        }
        return header
    }

    private init(_ window: ByteWindow) throws {
        pixelOffset = try window.littleEndian(at: 10, bytes: 4)
        // OS/2's first header has sides of two bytes.
        if try window.littleEndian(at: 14, bytes: 4) == 12 {
            width = try window.littleEndian(at: 18, bytes: 2)
            height = try window.littleEndian(at: 20, bytes: 2)
            depth = try window.littleEndian(at: 24, bytes: 2)
            compression = Compression.none
        } else {
            width = Int(clamping: Int32(truncatingIfNeeded: try window.littleEndian(at: 18, bytes: 4)))
            // A negative height says that the first row is the top one.
            height = abs(Int(clamping: Int32(truncatingIfNeeded: try window.littleEndian(at: 22, bytes: 4))))
            depth = try window.littleEndian(at: 28, bytes: 2)
            compression = try window.littleEndian(at: 30, bytes: 4)
        }
    }

    /// - Throws: `media.corrupt` when the file ends before the last pixel. The padding of the last row may be missing.
    package func checkPixels(_ window: ByteWindow) throws {
        if compression == Compression.runs8 || compression == Compression.runs4 { return try checkRuns(window) }
        // Bounded throughout: `read` holds pixels to `picturePixelsMax` and depths to 32; an offset has four bytes.
        let rowBytes = (width * depth + 7) / 8
        let stride = (width * depth + 31) / 32 * 4
        if pixelOffset + stride * (height - 1) + rowBytes > window.size { throw window.cut }
    }

    /// Runs end with a mark of their own; without it all rows have to be there.
    private func checkRuns(_ window: ByteWindow) throws {
        // Bounded throughout: an offset has four bytes, and moves on by at most 256 while it lies in the file.
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
