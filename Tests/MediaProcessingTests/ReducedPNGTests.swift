import Foundation
import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

/// The quick way for plain PNGs shows what libvips' way shows.
struct ReducedPNGTests {
    private static let clear = ["-alpha", "set", "-channel", "A", "-fx", "i/w", "+channel"]

    /// The same picture in a box, as a PNG and as a TIFF, which goes through libvips.
    private func both(
        _ arguments: [String], _ fit: ThumbnailFit = .contain, width: Int = 300, height: Int = 300,
        isPNG32: Bool = false
    ) throws -> (quick: RenderedStill, slow: RenderedStill) {
        var request = RenderRequest(format: .png, picture: .still)
        request.thumbnail = ThumbnailRendition(width: width, height: height, fit: fit)
        let whole = isPNG32 ? ["-define", "png:color-type=6"] : []
        let quick = try RenderedStill(StillFixture.converted("a.png", arguments + whole), request)
        request.format = .tiff
        return (quick, try RenderedStill(StillFixture.converted("a.tiff", arguments), request))
    }

    @Test(arguments: [
        [], ["-resize", "3000x"], ["-resize", "250x"], ["-colors", "40"], ["-colorspace", "Gray"],
        ["-resize", "3001x170!"],
    ])
    func `An opaque PNG's thumbnail is a JPEG that looks the same`(arguments: [String]) throws {
        let (quick, slow) = try both(arguments)
        #expect(quick.media.thumbnail?.type == .jpeg)
        #expect(quick.media.thumbnail?.width == slow.media.thumbnail?.width)
        #expect(quick.media.thumbnail?.height == slow.media.thumbnail?.height)
        let distance = try PictureDistance(quick.picture(.thumbnail), slow.picture(.thumbnail))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test(arguments: ["100x", "1600x"]) func `What is transparent stays so, and bleeds into nothing`(side: String)
        throws
    {
        let (quick, slow) = try both(["-resize", side] + Self.clear)
        #expect(quick.media.thumbnail?.type == .png && slow.media.thumbnail?.type == .png)
        let (ours, theirs) = try (quick.picture(.thumbnail), slow.picture(.thumbnail))
        #expect(ours.width == theirs.width && ours.height == theirs.height)
        let alphas = stride(from: 3, to: ours.bytes.count, by: 4).map {
            abs(Int(ours.bytes[$0]) - Int(theirs.bytes[$0]))
        }
        #expect((alphas.max() ?? 255) <= 4)
        let seen = stride(from: 0, to: ours.bytes.count, by: 4).filter { ours.bytes[$0 + 3] > 40 }
        let strays = seen.map { abs(Int(ours.bytes[$0]) - Int(theirs.bytes[$0])) }
        #expect(Double(strays.reduce(0, +)) / Double(strays.count) < 3)
    }

    @Test func `An alpha channel that hides nothing makes no PNG`() throws {
        let (quick, _) = try both(["-alpha", "opaque"], isPNG32: true)
        #expect(quick.media.thumbnail?.type == .jpeg)
    }

    @Test(arguments: [(5, 2), (45, 40), (300, 10), (10, 300), (333, 333)])
    func `A box is filled and cut as libvips fills it`(width: Int, height: Int) throws {
        for arguments in [[], Self.clear] {
            let (quick, slow) = try both(arguments, .cover, width: width, height: height)
            let (ours, theirs) = try (quick.picture(.thumbnail), slow.picture(.thumbnail))
            #expect(ours.width == theirs.width && ours.height == theirs.height)
            #expect(PictureDistance(ours, theirs).mean < ReducedJPEGTests.tolerance(width, height))
        }
    }

    @Test(arguments: [["-interlace", "PNG"], ["-depth", "16", "-define", "png:bit-depth=16"]])
    func `What is not plain goes through libvips and looks the same`(arguments: [String]) throws {
        let still = try RenderedStill(StillFixture.converted("a.png", arguments), format: .png)
        let distance = try PictureDistance(
            still.picture(.thumbnail), TestPicture(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test func `Colours of a profile other than sRGB are converted`() throws {
        let wide = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-wide.png").path
        try GeneratedMedia.run(
            "vips", ["icc_transform", StillFixture.sample("grid.png"), wide, "p3", "--input-profile", "srgb"])
        let distance = try PictureDistance(
            RenderedStill(wide, format: .png).picture(.thumbnail),
            TestPicture(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test func `A thumbnail of thousands of pixels is left to libvips, which holds rows alone`() throws {
        let large = try StillFixture.converted("large.png", ["-resize", "6000x"])
        let descriptor = open(large, O_RDONLY)
        defer { close(descriptor) }
        let png = try #require(try PNGThumbnailer(source: descriptor, deadline: .now + .seconds(60)))
        #expect(try png.thumbnail(in: ThumbnailRendition(width: 4096, height: 4096, fit: .contain)) == nil)
        let still = try RenderedStill(large, format: .png, side: 4096)
        #expect(still.media.thumbnail?.width == 4096)
    }

    @Test(arguments: [0.5, 0.99]) func `A PNG that is cut is found out`(share: Double) throws {
        let whole = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("grid.png"))))
        let cut = try GeneratedMedia.file("cut.png", bytes: Array(whole.prefix(Int(Double(whole.count) * share))))
        let error = #expect(throws: AttachPrepError.self) { try RenderedStill(cut.path, format: .png) }
        #expect(error?.code == .mediaCorrupt)
    }
}
