import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

/// Stills in HDR are tone-mapped: their SDR colors are those of the same image in SDR.
@Suite struct HDRStillTests {
    /// The grid in BT.2020 with another transfer curve, white at 203 nits, 10 bits.
    private func file(_ name: String, curve: String, code: Int, isRotated: Bool = false) throws -> String {
        let filter =
            "zscale=tin=iec61966-2-1:pin=709:min=gbr:rin=full:t=\(curve):p=2020:m=gbr:r=full:npl=203,format=gbrp16"
        let deep = try GeneratedMedia.file(
            "\(curve).png", ["-i", StillFixture.sample("grid.png"), "-vf", filter, "-pix_fmt", "rgb48be"])
        let target = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-\(name)").path
        let kind = name.hasSuffix("avif") ? ["-A"] : []
        try GeneratedMedia.run(
            "heif-enc",
            kind + ["-b", "10", "-q", "90", "--matrix_coefficients", "9", "--colour_primaries", "9"]
                + ["--transfer_characteristic", "\(code)", "-o", target, deep.path])
        return target
    }

    @Test(arguments: [("pq.heic", "smpte2084", 16), ("pq.avif", "smpte2084", 16), ("hlg.heic", "arib-std-b67", 18)])
    func `A still in PQ or HLG has the colors of its SDR form`(name: String, curve: String, code: Int) throws {
        let format: MediaFormat = name.hasSuffix("avif") ? .avif : .heic
        let still = try RenderedStill(file(name, curve: curve, code: code), format: format, reencodes: true)
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
