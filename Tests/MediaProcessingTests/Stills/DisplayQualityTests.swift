import MediaEngine
import MediaLibraries
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// The quality of pictures for displays, and light that is averaged in them.
struct DisplayQualityTests {
    private static func plane(_ side: Int, _ sample: (Int, Int) -> Int) -> JPEGPlane {
        let samples = (0..<side * side).map { UInt8(clamping: sample($0 % side, $0 / side)) }
        return JPEGPlane(width: side, height: side, samples: samples)
    }

    /// A number from 0 to 255 that looks random.
    private static func noise(_ x: Int, _ y: Int) -> Int {
        let mixed = (x &* 374_761_393 &+ y &* 668_265_263) & 0x7FFF_FFFF
        return ((mixed ^ (mixed >> 13)) &* 1_274_126_177) >> 16 & 0xFF
    }

    @Test func `Fine grain gets a higher quality than smooth light, within a range`() {
        let smooth = DisplayQuality.quality(of: Self.plane(64) { x, y in x + y })
        let grain = DisplayQuality.quality(of: Self.plane(64) { x, y in 100 + Self.noise(x, y) / 8 })
        let noise = DisplayQuality.quality(of: Self.plane(64, Self.noise))
        #expect(smooth < grain && grain <= noise)
        #expect((64...90).contains(smooth) && noise <= 90)
    }

    @Test(arguments: [1, 2, 3]) func `An image of a few pixels has a quality`(side: Int) {
        #expect((64...90).contains(DisplayQuality.quality(of: Self.plane(side) { _, _ in 0 })))
    }

    @Test func `A stored sample has its own light`() {
        let steps = Float(LightCurve.samples.count - 1)
        #expect(LightCurve.light.map { LightCurve.samples[Int(($0 * steps).rounded())] } == Array(0...255))
        #expect(LightCurve.light16.first == 0 && LightCurve.light16.last == .max)
    }

    @Test(arguments: [2, 4, 9]) func `Black and white pixels look like half of the light, not like half of the value`(
        factor: Int
    ) {
        let board = Self.plane(72) { x, y in (x + y).isMultiple(of: 2) ? 0 : 255 }
        let box = PlaneBoxFilter.shrinkLight(board, by: factor)
        #expect(box.samples.allSatisfy { (180...196).contains($0) })
        var resampler = PlaneResampler(width: 72 / factor, height: 72 / factor)
        let light = resampler.columns(ofLarge: board, inLight: true)
        #expect(light.allSatisfy { (170...206).contains($0) })
        let stored = resampler.columns(ofLarge: board)
        #expect(stored.allSatisfy { (108...148).contains($0) })
    }

    @Test func `Made for a display, a photograph in a PNG becomes a JPEG, and a drawing stays exact`() throws {
        func type(_ name: String, _ options: [String]) throws -> AttachmentType? {
            var request = RenderRequest(format: .png, frameSelection: .still)
            request.attachment = .still(StillRendition(bytesMax: 5_000_000, longSideMax: 300))
            return try RenderedStill(StillFixture.converted(name, options), request).media.attachment?.type
        }
        #expect(try type("display-grain.png", ["-attenuate", "0.5", "+noise", "Gaussian"]) == .jpeg)
        #expect(try type("display-flat.png", ["-fill", "white", "-colorize", "100", "-resize", "300x200!"]) == .png)
    }

    @Test(arguments: [("grid.jpg", MediaFormat.jpeg), ("cmyk.jpg", .jpeg)])
    func `A JPEG for a display is reduced while it is decoded, beside its thumbnail and targets`(
        name: String, format: MediaFormat
    ) throws {
        var request = RenderRequest(format: format, frameSelection: .still)
        request.thumbnail = ThumbnailRendition(width: 100, height: 100, fit: .contain)
        request.attachment = .still(StillRendition(bytesMax: 5_000_000, longSideMax: 300))
        request.targets = [TargetRendition("wide", width: 400, height: 200, bytesMax: 100_000, bytesAim: 60_000)]
        let still = try RenderedStill(StillFixture.sample(name), request)
        let attachment = try #require(still.media.attachment)
        #expect(max(attachment.width ?? 0, attachment.height ?? 0) == 300 && attachment.type == .jpeg)
        #expect(still.media.thumbnail?.width == 100 && still.media.targets["wide"]?.width == 400)
        // Light and stored samples differ at the edges of the digits; another crop is over 10 (`ImageDistance`).
        #expect(try ImageDistance(still.image(.attachment), still.image(.thumbnail)).mean < 10)
    }
}
