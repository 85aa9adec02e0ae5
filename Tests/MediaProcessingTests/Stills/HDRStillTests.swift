import Foundation
import MediaEngine
import RichPush
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

    /// The same as JPEG XL by libjxl's cjxl, from 16 bits in full range.
    private func jpegXL(_ curve: String) throws -> String {
        let filter = "zscale=tin=iec61966-2-1:pin=709:min=gbr:rin=full:t=\(curve):p=2020:m=gbr:r=full:npl=203"
        let source = try GeneratedMedia.file(
            "\(curve).ppm",
            ["-i", StillFixture.sample("grid.png"), "-vf", filter + ",format=rgb48be", "-c:v", "ppm", "-f", "image2"])
        let path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).jxl").path
        let space = "RGB_D65_202_Rel_\(curve == "smpte2084" ? "PeQ" : "HLG")"
        try GeneratedMedia.run("cjxl", [source.path, path, "-x", "color_space=\(space)", "-d", "1", "--quiet"])
        return path
    }

    @Test(arguments: ["smpte2084", "arib-std-b67"], [MediaFormat.avif, .jpegXL])
    func `A still in PQ or HLG has the colors of its SDR form`(curve: String, format: MediaFormat) throws {
        let path = try format == .avif ? file(curve) : jpegXL(curve)
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
