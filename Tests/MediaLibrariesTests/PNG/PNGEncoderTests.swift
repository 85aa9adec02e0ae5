import TestSupport
import Testing

@testable import MediaLibraries

struct PNGEncoderTests {
    private static let level = 6

    @Test(arguments: [
        (arguments: [], kind: "PNG24", bands: 3, name: "rgb"),
        (
            arguments: ["-alpha", "set", "-channel", "A", "-evaluate", "multiply", "0.4"], kind: "PNG32", bands: 4,
            name: "rgba"
        ),
        (arguments: ["-colorspace", "Gray"], kind: "PNG", bands: 1, name: "gray"),
        (
            arguments: ["-colorspace", "Gray", "-seed", "3", "-attenuate", "2", "+noise", "Gaussian"], kind: "PNG",
            bands: 1, name: "gray"
        ),
    ])
    func `Every pixel is kept, as ImageMagick reads it`(
        _ row: (arguments: [String], kind: String, bands: Int, name: String)
    ) throws {
        let source = try PNGFile(row.arguments, as: row.kind)
        let pixels = try source.reference(row.name)
        let encoder = try #require(PNGEncoder(width: 397, height: 295, bands: row.bands))
        let file = try PNGFile(bytes: encoder.encode(pixels.span.bytes, level: Self.level))
        #expect(try file.reference(row.name) == pixels)
        #expect(try file.validation() == .intact)
    }

    @Test(arguments: [(1, 1), (1, 200), (200, 1), (3, 2), (5, 64), (5, 65), (64, 129)], 1...4)
    func `Every size and number of samples is kept`(size: (Int, Int), bands: Int) throws {
        let count = size.0 * size.1 * bands
        // Neither flat nor smooth, so that all filters are chosen somewhere.
        let pixels = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7 ^ $0 >> 3) }
        let encoder = try #require(PNGEncoder(width: size.0, height: size.1, bands: bands))
        let file = try PNGFile(bytes: encoder.encode(pixels.span.bytes, level: Self.level))
        #expect(try file.validation() == .intact)
        #expect(try file.pixels() == (bands == 2 ? Self.rgba(pixels) : pixels))
    }

    @Test func `A smooth image is filtered, and one of two colors is not`() throws {
        let photograph = (0..<120_000).map { UInt8(truncatingIfNeeded: $0 / 3 % 200 / 2 + $0 / 600 / 2) }
        var random = SeededGenerator(5)
        let drawing = (0..<40_000).flatMap { _ in [UInt8](repeating: Bool.random(using: &random) ? 20 : 230, count: 3) }
        #expect(try Self.usesFilters(photograph))
        #expect(try !Self.usesFilters(drawing))
    }

    @Test func `A file is not larger than libpng's at the same level`() throws {
        let pixels = try PNGFile(["-resize", "300%"]).reference("rgb")
        let encoder = try #require(PNGEncoder(width: 1_191, height: 885, bands: 3))
        let file = try PNGFile(bytes: encoder.encode(pixels.span.bytes, level: Self.level))
        // Level 6, adaptive filters.
        let peer = try PNGFile(["-resize", "300%", "-quality", "65"])
        #expect(try file.bytes.count <= peer.bytes.count)
    }

    @Test func `Sizes out of range are rejected, and pixels of another size`() throws {
        #expect(PNGEncoder(width: 0, height: 5, bands: 3) == nil)
        #expect(PNGEncoder(width: 5, height: -1, bands: 3) == nil)
        #expect(PNGEncoder(width: 5, height: 5, bands: 5) == nil)
        #expect(PNGEncoder(width: 2_001, height: 2_000, bands: 1) == nil)
        #expect(PNGEncoder(width: .max, height: .max, bands: 1) == nil)
        let encoder = try #require(PNGEncoder(width: 5, height: 5, bands: 3))
        #expect(throws: PNGEncodingError.self) {
            try encoder.encode([UInt8](repeating: 0, count: 74).span.bytes, level: Self.level)
        }
    }

    /// The filters of a PNG of 200 by 200 RGB pixels are known from the size of both ways.
    private static func usesFilters(_ pixels: [UInt8]) throws -> Bool {
        let encoder = try #require(PNGEncoder(width: 200, height: 200, bands: 3))
        let bytes = try encoder.encode(pixels.span.bytes, level: level)
        let rows = try PNGFile(bytes: bytes).filters(rowBytes: 600)
        return rows.contains { $0 != 0 }
    }

    private static func rgba(_ grayWithAlpha: [UInt8]) -> [UInt8] {
        stride(from: 0, to: grayWithAlpha.count, by: 2).flatMap { offset in
            let (gray, alpha) = (grayWithAlpha[offset], grayWithAlpha[offset + 1])
            return [gray, gray, gray, alpha]
        }
    }
}
