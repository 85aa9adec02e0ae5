import Foundation
import TestSupport

/// JPEG 2000 and JPEG XL files with extreme values in their headers.
enum WaveletShapes {
    private typealias Bytes = MediaBytes

    private static let rejected: Set<String> = ["media.too_many_pixels", "media.corrupt", "media.unsupported"]

    // MARK: JPEG 2000

    /// The codestream of a sample whose SIZ segment has other sides and tiles (ITU-T T.800, A.5.1).
    private static func codestream(width: Int, height: Int, tile: Int, components: Int = 3) throws -> [UInt8] {
        let file = [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jp2"))))
        let start = (0..<file.count - 4).first { Array(file[$0..<$0 + 4]) == [0xFF, 0x4F, 0xFF, 0x51] } ?? 0
        let old = Array(file[start...])
        let sizes =
            Bytes.bigEndian(width, 4) ++ Bytes.bigEndian(height, 4) ++ Bytes.zeros(8) ++ Bytes.bigEndian(tile, 4)
            ++ Bytes.bigEndian(tile, 4) ++ Bytes.zeros(8) ++ Bytes.bigEndian(components, 2)
        let described = Bytes.repeated([7, 1, 1], components)
        let length = 2 + 2 + sizes.count + described.count
        let segment = Bytes.bigEndian(length & 0xFFFF, 2) ++ [0, 0] ++ sizes ++ described
        let after = 4 + (Int(old[4]) << 8 | Int(old[5]))
        return Array(old[..<4]) ++ segment ++ Array(old[after...])
    }

    // MARK: JPEG XL

    /// A square image's header (ISO/IEC 18181-1, annex D), and zeros: bits from the lowest of each byte.
    private static func header(side: Int) -> [UInt8] {
        var bits = [0, 1, 1]
        bits += (0..<30).map { (side - 1) >> $0 & 1 }
        // The ratio 1:1, then the default metadata.
        bits += [1, 0, 0, 1]
        let packed = stride(from: 0, to: bits.count, by: 8).map { start in
            UInt8(bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << $1.offset })
        }
        return [0xFF, 0x0A] ++ packed ++ Bytes.zeros(200)
    }

    static let all: [HostileFile] = [
        HostileFile("huge.j2k", rejected) { _ in
            try codestream(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, tile: 0x7FFF_FFFF)
        },
        HostileFile("large.j2k", rejected) { _ in try codestream(width: 60_000, height: 60_000, tile: 60_000) },
        // Within the limit of pixels, but with the data of a small image.
        HostileFile("empty.j2k", rejected) { _ in try codestream(width: 10_900, height: 10_900, tile: 10_900) },
        HostileFile("tiles.j2k", rejected) { _ in try codestream(width: 10_000, height: 10_000, tile: 1) },
        HostileFile("components.j2k", rejected) { _ in
            try codestream(width: 2_000, height: 2_000, tile: 2_000, components: 16_384)
        },
        HostileFile("huge.jxl", rejected) { _ in header(side: 1 << 30) },
        HostileFile("empty.jxl", rejected) { _ in header(side: 7_000) },
        HostileFile("large.jxl", ["media.too_many_pixels"]) { _ in header(side: 10_000) },
    ]
}
