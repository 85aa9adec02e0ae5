import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// Stills in HDR are tone-mapped: their SDR colors are those of the same image in SDR.
@Suite struct HDRStillTests {
    /// The grid in BT.2020 with another transfer curve, white at 203 nits, 10 bits in limited range.
    private func file(_ curve: String) throws -> String {
        let filter =
            "zscale=tin=iec61966-2-1:pin=709:min=gbr:rin=full:t=\(curve):p=2020:m=2020_ncl:r=limited:npl=203"
            + ",format=yuv420p10le"
        let colors = "-color_trc \(curve) -color_primaries bt2020 -colorspace bt2020nc -color_range tv"
        let coding = "-c:v libaom-av1 -still-picture 1 -crf 15 -cpu-used 6"
        let arguments = "\(colors) \(coding)".split(separator: " ").map(String.init)
        return try GeneratedMedia.file(
            "\(curve).avif", ["-i", StillFixture.sample("grid.png"), "-vf", filter] + arguments
        ).path
    }

    /// The same as HEIC by heif-enc, which names the curve nowhere; the test adds the property that cameras write.
    private func heic(_ curve: String) throws -> String {
        let filter = "zscale=tin=iec61966-2-1:pin=709:min=gbr:rin=full:t=\(curve):p=2020:m=gbr:r=full:npl=203"
        let source = try GeneratedMedia.file(
            "\(curve).png", ["-i", StillFixture.sample("grid.png"), "-vf", filter + ",format=rgb48be"])
        let path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).heic").path
        try GeneratedMedia.run("heif-enc", [source.path, "-o", path, "-q", "90"])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        // ITU-T H.273: the numbers of the curves.
        let labeled = try HEIFColorProperty.added(to: bytes, curve: curve == "smpte2084" ? 16 : 18)
        try Data(labeled).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test(arguments: ["smpte2084", "arib-std-b67"], [MediaFormat.avif, .heic])
    func `A still in PQ or HLG has the colors of its SDR form`(curve: String, format: MediaFormat) throws {
        let path = try format == .avif ? file(curve) : heic(curve)
        let still = try RenderedStill(path, format: format, reencodes: true)
        let image = try still.image(.attachment)
        #expect(SampleMotif.cells(in: image) == Array(1...12))
        #expect(image.width == 800 && image.height == 600)
        let reference = try TestImage(decoding: StillFixture.sample("grid.png"))
        // The brightest color is compressed; a dark one is kept.
        for (x, y) in [(0.02, 0.02), (0.02, 0.36), (0.77, 0.36)] {
            let distance = image.color(atUnitX: x, y: y).distance(to: reference.color(atUnitX: x, y: y))
            #expect(distance < 60, "\(x), \(y): \(distance)")
        }
    }
}

/// Adds the color property (`colr`, ISO/IEC 14496-12) of BT.2020 primaries in full range to a HEIC of one image by
/// heif-enc, whose matrix is that of BT.601.
private enum HEIFColorProperty {
    static func added(to file: [UInt8], curve: UInt8) throws -> [UInt8] {
        var bytes = file
        // Its association with the image, as the fourth property.
        let association = try grow("ipma", by: 1, in: &bytes)
        bytes[association.lowerBound + 18] += 1
        bytes.insert(4, at: association.upperBound)
        let properties = try grow("ipco", by: 19, in: &bytes)
        let property: [UInt8] = [0, 0, 0, 19] + Array("colrnclx".utf8) + [0, 9, 0, curve, 0, 6, 0x80]
        bytes.insert(contentsOf: property, at: properties.upperBound)
        _ = try grow("iprp", by: 20, in: &bytes)
        _ = try grow("meta", by: 20, in: &bytes)
        // The offset of the coded image, which follows.
        let location = try grow("iloc", by: 0, in: &bytes)
        add(20, at: location.upperBound - 8, in: &bytes)
        return bytes
    }

    /// Adds to the size of a box, and returns its former range.
    private static func grow(_ type: String, by count: Int, in bytes: inout [UInt8]) throws -> Range<Int> {
        let start = try #require(bytes.firstRange(of: Array(type.utf8))).lowerBound - 4
        let size = add(count, at: start, in: &bytes)
        return start..<start + size
    }

    /// Adds to a number of four bytes, and returns its former value.
    @discardableResult
    private static func add(_ count: Int, at offset: Int, in bytes: inout [UInt8]) -> Int {
        let value = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: (value + count) >> (24 - 8 * index)) }
        return value
    }
}
