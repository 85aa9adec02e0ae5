import Foundation
import TestSupport

/// JPEG, TIFF, HEIF and BMP files with extreme or invalid values.
enum StillShapes {
    private typealias Bytes = MediaBytes

    private static func sample(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample(name))))
    }

    private static let readable: Set<String> = ["passed", "converted", "shrunk"]
    private static let readableOrCorrupt: Set<String> = ["passed", "converted", "shrunk", "media.corrupt"]

    // MARK: JPEG

    /// A sample with additional segments after its first marker.
    private static func jpeg(_ name: String, _ outcomes: Set<String>, _ segments: @escaping @Sendable () -> [UInt8])
        -> HostileFile
    {
        HostileFile(name, outcomes) { _ in
            let whole = try sample("grid.jpg")
            return Array(whole[..<2]) ++ segments() ++ Array(whole[2...])
        }
    }

    /// A frame header with this size and no pixels.
    private static func frame(_ marker: UInt8, _ width: Int, _ height: Int) -> [UInt8] {
        let size: [UInt8] = [8] ++ Bytes.bigEndian(height, 2) ++ Bytes.bigEndian(width, 2)
        let header = Bytes.jpeg(marker, size ++ [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
        return [0xFF, 0xD8] ++ Bytes.jpeg(0xDB, [0] ++ [UInt8](repeating: 1, count: 64)) ++ header
    }

    private static let scan = Bytes.jpeg(0xDA, [1, 1, 0, 0, 63, 0])
    private static let end: [UInt8] = [0xFF, 0xD9]
    /// Huffman tables with a single code of one bit, for DC and AC coefficients.
    private static let codes: [UInt8] =
        Bytes.jpeg(0xC4, [0, 1] ++ Bytes.zeros(15) ++ [0]) ++ Bytes.jpeg(0xC4, [0x10, 1] ++ Bytes.zeros(15) ++ [0])

    private static func exif(_ block: [UInt8]) -> [UInt8] { Bytes.jpeg(0xE1, Bytes.text("Exif\0\0") ++ block) }

    private static func profile(_ part: Int, of parts: Int, _ content: [UInt8]) -> [UInt8] {
        Bytes.jpeg(0xE2, Bytes.text("ICC_PROFILE\0") ++ [UInt8(part), UInt8(parts)] ++ content)
    }

    /// A profile's header, and a tag table that declares `tags` entries, which all begin at the table itself.
    private static func profileHead(tags: Int) -> [UInt8] {
        let head = Bytes.bigEndian(60_000, 4) ++ Bytes.text("lcms") ++ [4, 0, 0, 0] ++ Bytes.text("mntrRGB XYZ ")
        let rest = Bytes.zeros(12) ++ Bytes.text("acsp") ++ Bytes.zeros(88)
        let table = Bytes.repeated(Bytes.text("A2B0") ++ Bytes.bigEndian(128, 4) ++ Bytes.bigEndian(59_000, 4), 200)
        return head ++ rest ++ Bytes.bigEndian(tags, 4) ++ table
    }

    static let jpegs: [HostileFile] = [
        HostileFile("declared.jpg", ["media.too_many_pixels"]) { _ in frame(0xC0, 65_500, 65_500) ++ scan ++ end },
        HostileFile("progressive.jpg", ["media.too_many_pixels"]) { _ in frame(0xC2, 12_000, 9_999) ++ scan ++ end },
        // Each scan refines all coefficients in a few bytes.
        HostileFile("scans.jpg", ["media.corrupt", "passed", "converted"]) { _ in
            let one = Bytes.jpeg(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 0, 0]) ++ [0]
            return frame(0xC2, 4_000, 4_000) ++ codes ++ Bytes.repeated(one, 9_000) ++ end
        },
        HostileFile("no-height.jpg", ["media.unsupported"]) { _ in
            frame(0xC0, 64, 0) ++ codes ++ scan ++ [0, 0] ++ Bytes.jpeg(0xDC, [0xFF, 0xFF]) ++ end
        },
        HostileFile("components.jpg", HostileFile.corrupt) { _ in
            [0xFF, 0xD8] ++ Bytes.jpeg(0xC0, [8, 0, 64, 0, 64, 255, 1, 0xFF, 0]) ++ scan ++ end
        },
        HostileFile("sampling.jpg", HostileFile.corrupt) { _ in
            [0xFF, 0xD8] ++ Bytes.jpeg(0xC2, [8, 0, 64, 0, 64, 3, 1, 0xFF, 0, 2, 0, 0, 3, 0xF0, 0]) ++ scan ++ end
        },
        HostileFile("frames.jpg", HostileFile.corrupt) { _ in
            Bytes.repeated(frame(0xC0, 64, 64), 2_000) ++ scan ++ end
        },
        jpeg("length-0.jpg", readableOrCorrupt) { [0xFF, 0xFE, 0, 0] },
        jpeg("length-1.jpg", readableOrCorrupt) { [0xFF, 0xE1, 0, 1] },
        jpeg("comments.jpg", readableOrCorrupt) { Bytes.repeated(Bytes.jpeg(0xFE, Bytes.zeros(4)), 200_000) },
        jpeg("segments.jpg", readableOrCorrupt) { Bytes.repeated(Bytes.jpeg(0xED, Bytes.zeros(65_000)), 300) },
        jpeg("exif-short.jpg", readable) { Bytes.jpeg(0xE1, Bytes.text("Exif\0")) },
        jpeg("exif-cycle.jpg", readable) {
            // A directory whose next directory and whose sub-directory are itself.
            exif(Bytes.text("MM") ++ [0, 42, 0, 0, 0, 8, 0, 1, 0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 8])
        },
        jpeg("exif-entries.jpg", readable) {
            let entry: [UInt8] = [0x01, 0x0F, 0, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]
            return exif(Bytes.text("MM") ++ [0, 42, 0, 0, 0, 8, 0xFF, 0xFF] ++ Bytes.repeated(entry, 5_000))
        },
        jpeg("exif-thumbnail.jpg", readable) {
            let entries: [UInt8] = [
                0, 2, 2, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8, 2, 2, 0, 4, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xF0,
            ]
            return exif(
                Bytes.text("MM") ++ [0, 42, 0, 0, 0, 8, 0, 0, 0, 0, 0, 14] ++ entries ++ Bytes.zeros(4)
                    ++ frame(0xC0, 65_500, 65_500))
        },
        jpeg("exif-overlap.jpg", readable) {
            // All entries share a value of 60,000 bytes.
            let entry: [UInt8] = [0x92, 0x7C, 0, 7, 0, 0, 0xEA, 0x60, 0, 0, 0, 8]
            return exif(
                Bytes.text("MM") ++ [0, 42, 0, 0, 0, 8, 0x10, 0x00] ++ Bytes.repeated(entry, 4_096)
                    ++ Bytes.zeros(12_000))
        },
        jpeg("profile-parts.jpg", readable) {
            (1...255).flatMap { profile($0, of: 255, Bytes.zeros(65_000)) }
        },
        jpeg("profile-cycle.jpg", readable) { profile(1, of: 1, profileHead(tags: 200)) },
        jpeg("profile-tags.jpg", readable) { profile(1, of: 1, profileHead(tags: 0x7FFF_FFFF)) },
        jpeg("profile-numbers.jpg", readable) {
            profile(0, of: 0, Bytes.zeros(500)) ++ profile(255, of: 1, Bytes.zeros(500))
        },
        jpeg("xmp.jpg", readable) {
            let space = "http://ns.adobe.com/xap/1.0/\0"
            let entity = "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><x:xmpmeta>&a;</x:xmpmeta>"
            return Bytes.jpeg(0xE1, Bytes.text(space + entity))
                ++ Bytes.repeated(Bytes.jpeg(0xE1, Bytes.text(space) ++ Bytes.zeros(60_000)), 200)
        },
    ]

    // MARK: TIFF

    private static func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
        Bytes.littleEndian(tag, 2) ++ Bytes.littleEndian(type, 2) ++ Bytes.littleEndian(count, 4)
            ++ Bytes.littleEndian(value, 4)
    }

    private static func tiff(_ entries: [[UInt8]], next: Int = 0, data: [UInt8] = []) -> [UInt8] {
        let sorted = entries.sorted { $0[0] < $1[0] || ($0[1] < $1[1]) }
        return Bytes.text("II*\0") ++ Bytes.littleEndian(8, 4) ++ Bytes.littleEndian(entries.count, 2)
            ++ sorted.flatMap { $0 }
            ++ Bytes.littleEndian(next, 4) ++ data
    }

    /// A gray image with one strip after the directory.
    private static func gray(
        _ width: Int, _ height: Int, compression: Int, next: Int = 0, data: [UInt8], rows: Int? = nil, bytes: Int? = nil
    ) -> [UInt8] {
        let offset = 8 + 2 + 9 * 12 + 4
        let entries = [
            entry(256, 4, 1, width), entry(257, 4, 1, height), entry(258, 3, 1, 8), entry(259, 3, 1, compression),
            entry(262, 3, 1, 1), entry(273, 4, 1, offset), entry(277, 3, 1, 1), entry(278, 4, 1, rows ?? height),
            entry(279, 4, 1, bytes ?? data.count),
        ]
        return Bytes.text("II*\0") ++ Bytes.littleEndian(8, 4) ++ Bytes.littleEndian(9, 2) ++ entries.flatMap { $0 }
            ++ Bytes.littleEndian(next, 4) ++ data
    }

    private static let large: Set<String> = ["media.too_many_pixels", "media.corrupt"]

    static let tiffs: [HostileFile] = [
        HostileFile("cycle.tiff", readableOrCorrupt) { _ in
            gray(64, 64, compression: 1, next: 8, data: Bytes.zeros(4_096))
        },
        HostileFile("declared.tiff", large) { _ in gray(0x7FFF_FFFF, 0x7FFF_FFFF, compression: 1, data: Bytes.zeros(64))
        },
        HostileFile("line.tiff", large) { _ in gray(0xFFFF_FFFF, 1, compression: 1, data: Bytes.zeros(64)) },
        HostileFile("strip.tiff", HostileFile.corrupt) { _ in
            gray(64, 64, compression: 1, data: Bytes.zeros(64), bytes: 0xFFFF_FFFF)
        },
        HostileFile("rows.tiff", readableOrCorrupt) { _ in
            gray(64, 64, compression: 1, data: Bytes.zeros(4_096), rows: 0xFFFF_FFFF)
        },
        HostileFile("deflate.tiff", ["converted", "media.corrupt"]) { _ in
            gray(10_000, 10_000, compression: 8, data: Bytes.zlibBomb(100_000_200))
        },
        HostileFile("deflate-more.tiff", readableOrCorrupt) { _ in
            gray(64, 64, compression: 8, data: Bytes.zlibBomb(200_000_000))
        },
        HostileFile("jpeg.tiff", HostileFile.corrupt) { _ in
            gray(64, 64, compression: 7, data: frame(0xC0, 65_500, 65_500) ++ scan ++ end)
        },
        HostileFile("packed.tiff", ["converted", "media.corrupt"]) { _ in
            gray(10_000, 10_000, compression: 32_773, data: Bytes.repeated([0x81, 0], 800_000))
        },
        HostileFile("count.tiff", HostileFile.corrupt) { _ in
            tiff([
                entry(256, 4, 1, 64), entry(257, 4, 1, 64), entry(273, 4, 0x3FFF_FFFF, 8),
                entry(279, 4, 0x3FFF_FFFF, 8),
            ])
        },
        HostileFile("tiles.tiff", large) { _ in
            tiff([
                entry(256, 4, 1, 60_000), entry(257, 4, 1, 1_900), entry(258, 3, 1, 8), entry(259, 3, 1, 1),
                entry(262, 3, 1, 1), entry(277, 3, 1, 1), entry(322, 4, 1, 1), entry(323, 4, 1, 1),
                entry(324, 4, 100_000_000, 8), entry(325, 4, 100_000_000, 8),
            ])
        },
        HostileFile("tile-size.tiff", large) { _ in
            tiff([
                entry(256, 4, 1, 64), entry(257, 4, 1, 64), entry(258, 3, 1, 8), entry(259, 3, 1, 1),
                entry(262, 3, 1, 1), entry(277, 3, 1, 1), entry(322, 4, 1, 0x7FFF_FFF0), entry(323, 4, 1, 0x7FFF_FFF0),
                entry(324, 4, 1, 8), entry(325, 4, 1, 64),
            ])
        },
        HostileFile("samples.tiff", large) { _ in
            tiff([
                entry(256, 4, 1, 1_000), entry(257, 4, 1, 1_000), entry(258, 3, 1, 8), entry(259, 3, 1, 1),
                entry(262, 3, 1, 1), entry(273, 4, 1, 8), entry(277, 3, 1, 65_535), entry(278, 4, 1, 1_000),
                entry(279, 4, 1, 64),
            ])
        },
        HostileFile("directories.tiff", readableOrCorrupt) { _ in
            let first = gray(64, 64, compression: 1, next: 8 + 2 + 108 + 4 + 4_096, data: Bytes.zeros(4_096))
            let more = (0..<5_000).flatMap { index in
                Bytes.littleEndian(1, 2) ++ entry(256, 4, 1, 1)
                    ++ Bytes.littleEndian(first.count + (index + 1) * 18, 4)
            }
            return first ++ more
        },
        HostileFile("big-far.tiff", HostileFile.corrupt) { _ in
            Bytes.text("II+\0") ++ [8, 0, 0, 0] ++ [UInt8](repeating: 0xFF, count: 7) ++ [0x7F] ++ Bytes.zeros(64)
        },
        HostileFile("big-negative.tiff", HostileFile.corrupt) { _ in
            Bytes.text("II+\0") ++ [8, 0, 0, 0] ++ Bytes.zeros(7) ++ [0x80] ++ Bytes.zeros(64)
        },
        HostileFile("big-entries.tiff", HostileFile.corrupt) { _ in
            Bytes.text("II+\0") ++ [8, 0, 0, 0, 16] ++ Bytes.zeros(7) ++ [UInt8](repeating: 0xFF, count: 8)
                ++ Bytes.zeros(64)
        },
        HostileFile("big-count.tiff", HostileFile.corrupt) { _ in
            let tag =
                Bytes.littleEndian(273, 2) ++ Bytes.littleEndian(16, 2) ++ [UInt8](repeating: 0xFF, count: 7) ++ [0x7F]
            return Bytes.text("II+\0") ++ [8, 0, 0, 0, 16] ++ Bytes.zeros(7) ++ Bytes.littleEndian(1, 8) ++ tag
                ++ Bytes.zeros(72)
        },
    ]

    // MARK: HEIF

    private static func heif(_ brand: String, _ boxes: [UInt8]) -> [UInt8] {
        let type = Bytes.box("ftyp", Bytes.text(brand) ++ Bytes.zeros(4) ++ Bytes.text("mif1\(brand)"))
        let handler = Bytes.fullBox("hdlr", Bytes.zeros(4) ++ Bytes.text("pict") ++ Bytes.zeros(13))
        return type ++ Bytes.fullBox("meta", handler ++ boxes)
    }

    private static func items(_ count: Int, type: String) -> [UInt8] {
        let one: @Sendable (Int) -> [UInt8] = { number in
            Bytes.fullBox("infe", Bytes.bigEndian(number, 2) ++ [0, 0] ++ Bytes.text(type) ++ [0], version: 2)
        }
        return Bytes.fullBox("pitm", [0, 1])
            ++ Bytes.fullBox("iinf", Bytes.bigEndian(count, 2) ++ (1...count).flatMap(one))
    }

    /// Item locations, all with the same extent in `idat`.
    private static func locations(_ count: Int, extents: Int = 1, length: Int) -> [UInt8] {
        let extent = Bytes.bigEndian(0, 4) ++ Bytes.bigEndian(length, 4)
        let entries = (1...count).flatMap { number in
            Bytes.bigEndian(number, 2) ++ [0, 1, 0, 0] ++ Bytes.bigEndian(extents, 2) ++ Bytes.repeated(extent, extents)
        }
        return Bytes.fullBox("iloc", [0x44, 0x00] ++ Bytes.bigEndian(count, 2) ++ entries, version: 1)
    }

    private static func grid(_ rows: Int, _ columns: Int, _ width: Int, _ height: Int) -> [UInt8] {
        Bytes.box(
            "idat",
            [0, 1, UInt8(rows - 1), UInt8(columns - 1)] ++ Bytes.bigEndian(width, 4) ++ Bytes.bigEndian(height, 4))
    }

    private static func reference(_ from: Int, _ to: [Int]) -> [UInt8] {
        Bytes.box(
            "dimg", Bytes.bigEndian(from, 2) ++ Bytes.bigEndian(to.count, 2) ++ to.flatMap { Bytes.bigEndian($0, 2) })
    }

    private static func size(_ width: Int, _ height: Int, items: Int) -> [UInt8] {
        let properties = Bytes.box(
            "ipco", Bytes.fullBox("ispe", Bytes.bigEndian(width, 4) ++ Bytes.bigEndian(height, 4)))
        let links = (1...items).flatMap { Bytes.bigEndian($0, 2) ++ [1, 1] }
        return Bytes.box("iprp", properties ++ Bytes.fullBox("ipma", Bytes.bigEndian(items, 4) ++ links))
    }

    /// Structures of items that none of the decoders reads are unsupported.
    private static let unusable = large.union(["media.unsupported"])

    static let heifs: [HostileFile] = ["heic", "avif"].flatMap { brand in
        [
            HostileFile("grid-large.\(brand)", unusable) { _ in
                let boxes = items(2, type: "grid") ++ locations(2, length: 12) ++ size(16_384, 16_384, items: 2)
                return heif(brand, boxes ++ Bytes.fullBox("iref", reference(1, [2])) ++ grid(256, 256, 16_384, 16_384))
            },
            // Nested grids, each level with 256 times as many tiles.
            HostileFile("grids.\(brand)", unusable) { _ in
                let boxes = items(6, type: "grid") ++ locations(6, length: 12) ++ size(1_000, 1_000, items: 6)
                let links = (1...5).flatMap { reference($0, [Int](repeating: $0 + 1, count: 256)) }
                return heif(brand, boxes ++ Bytes.fullBox("iref", links) ++ grid(16, 16, 1_000, 1_000))
            },
            HostileFile("cycle.\(brand)", unusable) { _ in
                let boxes = items(2, type: "iden") ++ locations(2, length: 12) ++ size(64, 64, items: 2)
                return heif(
                    brand, boxes ++ Bytes.fullBox("iref", reference(1, [2]) ++ reference(2, [1])) ++ grid(1, 1, 64, 64))
            },
            HostileFile("self.\(brand)", unusable) { _ in
                let boxes = items(1, type: "grid") ++ locations(1, length: 12) ++ size(64, 64, items: 1)
                return heif(brand, boxes ++ Bytes.fullBox("iref", reference(1, [1])) ++ grid(1, 1, 64, 64))
            },
            HostileFile("extents.\(brand)", unusable) { _ in
                // 50,000 extents over the same megabyte.
                let type = brand == "heic" ? "hvc1" : "av01"
                let boxes =
                    items(1, type: type) ++ locations(1, extents: 50_000, length: 1_000_000) ++ size(64, 64, items: 1)
                return heif(brand, boxes ++ Bytes.box("idat", Bytes.zeros(1_000_000)))
            },
            HostileFile("size.\(brand)", unusable) { _ in
                let type = brand == "heic" ? "hvc1" : "av01"
                let boxes = items(1, type: type) ++ locations(1, length: 12) ++ size(0x7FFF_FFFF, 0x7FFF_FFFF, items: 1)
                return heif(brand, boxes ++ Bytes.box("idat", Bytes.zeros(12)))
            },
            HostileFile("items.\(brand)", unusable) { _ in
                heif(
                    brand,
                    items(10_000, type: "hvc1") ++ locations(10_000, length: 12) ++ size(64, 64, items: 10_000)
                        ++ grid(1, 1, 64, 64))
            },
            HostileFile("references.\(brand)", unusable) { _ in
                let links = Bytes.repeated(reference(1, [2]), 20_000)
                let boxes = items(2, type: "grid") ++ locations(2, length: 12) ++ size(64, 64, items: 2)
                return heif(brand, boxes ++ Bytes.fullBox("iref", links) ++ grid(1, 1, 64, 64))
            },
            HostileFile("properties.\(brand)", unusable) { _ in
                let many = Bytes.box("ipco", Bytes.repeated(Bytes.fullBox("ispe", Bytes.zeros(8)), 20_000))
                return heif(
                    brand,
                    items(1, type: "hvc1") ++ locations(1, length: 12) ++ Bytes.box("iprp", many) ++ grid(1, 1, 64, 64))
            },
            HostileFile("deep.\(brand)", unusable) { _ in
                let levels = (0..<10_000).flatMap { Bytes.bigEndian(80_000 - $0 * 8, 4) ++ Bytes.text("iprp") }
                return heif(brand, levels)
            },
        ]
    }

    // MARK: BMP

    private static func bitmap(_ width: Int, _ height: Int, bits: Int, compression: Int, data: [UInt8]) -> [UInt8] {
        let header =
            Bytes.littleEndian(40, 4) ++ Bytes.littleEndian(width, 4) ++ Bytes.littleEndian(height, 4) ++ [1, 0]
            ++ Bytes.littleEndian(bits, 2) ++ Bytes.littleEndian(compression, 4) ++ Bytes.zeros(20)
        let palette = bits <= 8 ? Bytes.zeros(1_024) : []
        return Bytes.text("BM") ++ Bytes.littleEndian(54 + palette.count + data.count, 4) ++ Bytes.zeros(4)
            ++ Bytes.littleEndian(54 + palette.count, 4) ++ header ++ palette ++ data
    }

    static let bitmaps: [HostileFile] = [
        HostileFile("declared.bmp", ["media.too_many_pixels"]) { _ in
            bitmap(65_000, 65_000, bits: 24, compression: 0, data: [])
        },
        HostileFile("negative.bmp", ["media.too_many_pixels", "media.corrupt"]) { _ in
            bitmap(-64, -64, bits: 24, compression: 0, data: Bytes.zeros(12_288))
        },
        HostileFile("least.bmp", ["media.too_many_pixels", "media.corrupt"]) { _ in
            bitmap(64, Int(Int32.min), bits: 24, compression: 0, data: Bytes.zeros(12_288))
        },
        HostileFile("top-down.bmp", ["converted"]) { _ in
            bitmap(64, -64, bits: 24, compression: 0, data: Bytes.zeros(12_288))
        },
        HostileFile("runs.bmp", ["converted", "media.corrupt"]) { _ in
            bitmap(10_000, 10_000, bits: 8, compression: 1, data: [0, 1])
        },
        HostileFile("runs-out.bmp", ["converted", "media.corrupt"]) { _ in
            bitmap(64, 64, bits: 8, compression: 1, data: Bytes.repeated([0, 2, 255, 255], 10_000) ++ [255, 1])
        },
        HostileFile("bits.bmp", ["media.corrupt", "media.unsupported"]) { _ in
            bitmap(64, 64, bits: 65_535, compression: 0, data: Bytes.zeros(12_288))
        },
        HostileFile("far.bmp", HostileFile.corrupt) { _ in
            Bytes.text("BM") ++ Bytes.zeros(8) ++ [0xFF, 0xFF, 0xFF, 0x7F]
                ++ Array(bitmap(64, 64, bits: 24, compression: 0, data: [])[14...])
        },
    ]
}
