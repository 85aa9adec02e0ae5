import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// The fast path for plain PNGs gives the same thumbnails as libvips.
struct PNGThumbnailerTests {
    private static let clear = ["-alpha", "set", "-channel", "A", "-fx", "i/w", "+channel"]

    /// The same image in a box, as a PNG and as a TIFF, which goes through libvips.
    private func both(
        _ arguments: [String], _ fit: ThumbnailFit = .contain, width: Int = 300, height: Int = 300,
        isPNG32: Bool = false
    ) throws -> (fast: RenderedStill, reference: RenderedStill) {
        var request = RenderRequest(format: .png, frameSelection: .still)
        request.thumbnail = ThumbnailRendition(width: width, height: height, fit: fit)
        let format = isPNG32 ? ["-define", "png:color-type=6"] : []
        let fast = try RenderedStill(StillFixture.converted("a.png", arguments + format), request)
        request.format = .tiff
        return (fast, try RenderedStill(StillFixture.converted("a.tiff", arguments), request))
    }

    @Test(arguments: [
        [], ["-resize", "3000x"], ["-resize", "250x"], ["-colors", "40"], ["-colorspace", "Gray"],
        ["-resize", "3001x170!"],
    ])
    func `The thumbnail of an opaque PNG is a JPEG that looks the same`(arguments: [String]) throws {
        let (fast, reference) = try both(arguments)
        #expect(fast.media.thumbnail?.type == .jpeg)
        #expect(fast.media.thumbnail?.width == reference.media.thumbnail?.width)
        #expect(fast.media.thumbnail?.height == reference.media.thumbnail?.height)
        let distance = try ImageDistance(fast.image(.thumbnail), reference.image(.thumbnail))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test(arguments: ["100x", "1600x"]) func `Transparency is kept and does not bleed into visible pixels`(side: String)
        throws
    {
        let (fast, reference) = try both(["-resize", side] + Self.clear)
        #expect(fast.media.thumbnail?.type == .png && reference.media.thumbnail?.type == .png)
        let (fastImage, referenceImage) = try (fast.image(.thumbnail), reference.image(.thumbnail))
        #expect(fastImage.width == referenceImage.width && fastImage.height == referenceImage.height)
        let alphas = stride(from: 3, to: fastImage.bytes.count, by: 4).map {
            abs(Int(fastImage.bytes[$0]) - Int(referenceImage.bytes[$0]))
        }
        #expect((alphas.max() ?? 255) <= 4)
        let visible = stride(from: 0, to: fastImage.bytes.count, by: 4).filter { fastImage.bytes[$0 + 3] > 40 }
        let differences = visible.map { abs(Int(fastImage.bytes[$0]) - Int(referenceImage.bytes[$0])) }
        #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 3)
    }

    @Test func `An opaque alpha channel gives a JPEG`() throws {
        let (fast, _) = try both(["-alpha", "opaque"], isPNG32: true)
        #expect(fast.media.thumbnail?.type == .jpeg)
    }

    @Test(arguments: [(5, 2), (45, 40), (300, 10), (10, 300), (333, 333)])
    func `A box is filled and cropped as libvips does it`(width: Int, height: Int) throws {
        for arguments in [[], Self.clear] {
            let (fast, reference) = try both(arguments, .cover, width: width, height: height)
            let (fastImage, referenceImage) = try (fast.image(.thumbnail), reference.image(.thumbnail))
            #expect(fastImage.width == referenceImage.width && fastImage.height == referenceImage.height)
            #expect(ImageDistance(fastImage, referenceImage).mean < JPEGThumbnailerTests.tolerance(width, height))
        }
    }

    @Test(arguments: [["-interlace", "PNG"], ["-depth", "16", "-define", "png:bit-depth=16"]])
    func `Interlaced and 16-bit PNGs go through libvips and look the same`(arguments: [String]) throws {
        let still = try RenderedStill(StillFixture.converted("a.png", arguments), format: .png)
        let distance = try ImageDistance(
            still.image(.thumbnail), TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test func `Colors of a profile other than sRGB are converted`() throws {
        let wide = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-wide.png").path
        try GeneratedMedia.run(
            "vips", ["icc_transform", StillFixture.sample("grid.png"), wide, "p3", "--input-profile", "srgb"])
        let distance = try ImageDistance(
            RenderedStill(wide, format: .png).image(.thumbnail),
            TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test func `A thumbnail of 4,096 pixels is left to libvips`() throws {
        let large = try StillFixture.converted("large.png", ["-resize", "6000x"])
        let descriptor = open(large, O_RDONLY)
        defer { close(descriptor) }
        let png = try #require(try PNGThumbnailer(source: descriptor, deadline: .now + .seconds(60)))
        var request = RenderRequest(format: .png, frameSelection: .still)
        request.thumbnail = ThumbnailRendition(width: 4096, height: 4096, fit: .contain)
        #expect(try png.thumbnail(for: request) == nil)
        let still = try RenderedStill(large, format: .png, side: 4096)
        #expect(still.media.thumbnail?.width == 4096)
    }

    @Test(arguments: [0.5, 0.99]) func `A truncated PNG is corrupt`(share: Double) throws {
        let complete = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("grid.png"))))
        let bytes = Array(complete.prefix(Int(Double(complete.count) * share)))
        let truncated = try GeneratedMedia.file("cut.png", bytes: bytes)
        let error = #expect(throws: AttachPrepError.self) { try RenderedStill(truncated.path, format: .png) }
        #expect(error?.code == .mediaCorrupt)
    }
}
