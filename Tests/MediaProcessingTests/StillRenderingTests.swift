import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

/// Stills as they come out: upright, in sRGB, of the right size and type.
struct StillRenderingTests {
    private let motif = Array(1...12)

    @Test(arguments: [
        ("grid.jpg", MediaFormat.jpeg), ("grid.png", .png), ("grid.webp", .webp), ("grid.heic", .heic),
        ("grid.avif", .avif), ("grid.tiff", .tiff), ("grid.bmp", .bmp), ("cmyk.jpg", .jpeg), ("grid.gif", .gif),
    ])
    func `Every kind of still gives the same thumbnail`(name: String, format: MediaFormat) throws {
        let still = try RenderedStill(StillFixture.sample(name), format: format)
        #expect(still.media.thumbnail?.width == 300 && still.media.thumbnail?.height == 225)
        let distance = try PictureDistance(
            still.picture(.thumbnail), TestPicture(decoding: StillFixture.sample("grid.png")))
        // A CMYK file has lost its brightest colours before it came to us.
        #expect(distance.mean < (name == "cmyk.jpg" ? 12 : 3), "\(distance)")
    }

    @Test(arguments: Orientation.allCases) func `A JPEG stands upright, whatever its EXIF says`(
        orientation: Orientation
    )
        throws
    {
        let names = [
            "TopLeft", "TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop", "RightBottom", "LeftBottom",
        ]
        // Undo what the orientation does, so that upright is the motif again.
        let undo: [[String]] = [
            [], ["-flop"], ["-rotate", "180"], ["-flip"], ["-transpose"], ["-rotate", "270"], ["-transverse"],
            ["-rotate", "90"],
        ]
        let index = orientation.rawValue - 1
        let file = try StillFixture.converted("o.tiff", undo[index] + ["-orient", names[index]])
        let still = try RenderedStill(file, format: .tiff, anew: true)
        #expect(still.media.attachment?.width == 800 && still.media.attachment?.height == 600)
        #expect(SampleMotif.cells(in: try still.picture(.thumbnail)) == motif)
        #expect(SampleMotif.cells(in: try still.picture(.attachment)) == motif)
    }

    @Test(arguments: [
        ("d16.png", ["-depth", "16"]), ("palette.png", ["-colors", "64"]), ("interlaced.png", ["-interlace", "PNG"]),
        ("progressive.jpg", ["-interlace", "JPEG"]),
    ])
    func `Depth, palette and interlacing change nothing`(name: String, arguments: [String]) throws {
        let file = try StillFixture.converted(name, arguments)
        let still = try RenderedStill(file, format: name.hasSuffix("jpg") ? .jpeg : .png)
        #expect(SampleMotif.cells(in: try still.picture(.thumbnail)) == motif)
    }

    @Test func `Grey stays grey`() throws {
        let file = try StillFixture.converted("grey.png", ["-colorspace", "Gray"])
        let colour = try RenderedStill(file, format: .png).picture(.thumbnail).colour(atUnitX: 0.05, y: 0.1)
        // ffmpeg's own way from YCbCr to RGB tints a grey by a few steps.
        #expect(abs(colour.red - colour.green) < 5 && abs(colour.green - colour.blue) < 5)
    }

    @Test func `Transparency makes a PNG, an opaque alpha channel a JPEG`() throws {
        let transparent = try RenderedStill(StillFixture.sample("transparent.webp"), format: .webp, anew: true)
        #expect(transparent.media.attachment?.type == .png && transparent.media.thumbnail?.type == .png)
        #expect(try transparent.picture(.thumbnail).alpha(atUnitX: 0.5, y: 0.5) < 5)
        let opaque = try StillFixture.converted("opaque.tiff", ["-alpha", "set"])
        #expect(try RenderedStill(opaque, format: .tiff, anew: true).media.attachment?.type == .jpeg)
    }

    @Test func `A JPEG we write begins as JFIF and carries no metadata`() throws {
        let bytes = try RenderedStill(StillFixture.sample("grid.heic"), format: .heic, anew: true).bytes(.attachment)
        #expect(bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00]))
        #expect(bytes.firstRange(of: Array("Exif".utf8)) == nil)
        #expect(bytes.firstRange(of: Array("ICC_PROFILE".utf8)) == nil)
    }

    @Test func `A crop is the part that was asked for, at full resolution, and the thumbnail is cut from it`() throws {
        // Cells 6, 7, 10 and 11 of the grid.
        let rect = try ClippingRect(x: 0.25, y: 1.0 / 3, width: 0.5, height: 2.0 / 3)
        for (name, format) in [("grid.jpg", MediaFormat.jpeg), ("grid.webp", .webp)] {
            let still = try RenderedStill(StillFixture.sample(name), format: format, crop: rect)
            #expect(still.media.crop?.width == 400 && still.media.crop?.height == 400)
            #expect(SampleMotif.cells(in: try still.picture(.crop), columns: 2, rows: 2) == [6, 7, 10, 11])
            #expect(SampleMotif.cells(in: try still.picture(.thumbnail), columns: 2, rows: 2) == [6, 7, 10, 11])
        }
    }

    @Test func `A crop of a turned picture is laid on it as it stands upright`() throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.25, height: 1.0 / 3)
        let file = try StillFixture.converted("turned.tiff", ["-rotate", "270", "-orient", "RightTop"])
        let still = try RenderedStill(file, format: .tiff, crop: rect)
        #expect(SampleMotif.cells(in: try still.picture(.crop), columns: 1, rows: 1) == [1])
    }

    @Test func `Cover fills the box, contain stays inside, and nothing is enlarged`() throws {
        let grid = StillFixture.sample("grid.png")
        let cover = try RenderedStill(grid, format: .png, fit: .cover).media.thumbnail
        #expect(cover?.width == 300 && cover?.height == 300)
        let large = try RenderedStill(grid, format: .png, side: 2000).media.thumbnail
        #expect(large?.width == 800 && large?.height == 600)
        let wide = try RenderedStill(grid, format: .png, fit: .cover, side: 700).media.thumbnail
        #expect(wide?.width == 700 && wide?.height == 600)
    }

    @Test(arguments: [10, 50, 90, 99]) func `A truncated still is never a picture`(percent: Int) throws {
        let files: [(String, MediaFormat)] = [
            ("grid.jpg", .jpeg), ("grid.png", .png), ("grid.webp", .webp), ("grid.heic", .heic), ("grid.avif", .avif),
            ("grid.bmp", .bmp), ("grid.gif", .gif), ("grid.tiff", .tiff),
        ]
        for (name, format) in files {
            let file = try GeneratedMedia.cut(URL(fileURLWithPath: StillFixture.sample(name)), percent: percent)
            let error = #expect(throws: AttachPrepError.self, "\(name)") {
                try Self.inspectAndRender(file.path, format)
            }
            #expect(error?.code == .mediaCorrupt, "\(name) \(error?.description ?? "")")
        }
    }

    private static func inspectAndRender(_ file: String, _ format: MediaFormat) throws {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        _ = try MediaProcessor().perform(
            .inspect(InspectRequest(format: format, decodesStills: false)), descriptors: [descriptor],
            deadline: .now + .seconds(60))
        _ = try RenderedStill(file, format: format)
    }

    @Test func `A still over its limit loses quality first, and says so`() throws {
        var request = RenderRequest(format: .tiff, picture: .still)
        request.attachment = .still(StillRendition(bytesMax: 36_000))
        let still = try RenderedStill(StillFixture.sample("grid.tiff"), request)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.bytes <= 36_000 && attachment.width == 800)
        #expect(still.media.concessions.count == 1)
        #expect(SampleMotif.cells(in: try still.picture(.attachment)) == motif)
    }

    @Test func `A still far over its limit loses size as well`() throws {
        var request = RenderRequest(format: .png, picture: .still)
        request.attachment = .still(StillRendition(bytesMax: 8_000))
        let attachment = try #require(try RenderedStill(StillFixture.sample("grid.png"), request).media.attachment)
        #expect(attachment.bytes <= 8_000 && attachment.width ?? 0 < 800)
    }

    @Test(arguments: [0, 5, 11]) func `An animation's frame is the one of that number`(number: Int) throws {
        let still = try RenderedStill(
            StillFixture.sample("counter.gif"), format: .gif, picture: .animationFrame(number))
        #expect(SampleMotif.frameNumber(in: try still.picture(.thumbnail)) == number)
    }

    @Test(arguments: [(640, 480, 300, 225), (100, 100, 100, 100), (0, 0, 300, 225)])
    func `A GIF is drawn on the canvas it names, which libnsgif may doubt`(
        width: Int, height: Int, shownWidth: Int, shownHeight: Int
    ) throws {
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("counter.gif"))))
        bytes.replaceSubrange(6..<10, with: [width & 255, width >> 8, height & 255, height >> 8].map(UInt8.init))
        let file = try GeneratedMedia.file("canvas.gif", bytes: bytes)
        let still = try RenderedStill(file.path, format: .gif, picture: .animationFrame(6))
        #expect(still.media.thumbnail?.width == shownWidth && still.media.thumbnail?.height == shownHeight)
        if width == 640 { #expect(try still.picture(.thumbnail).alpha(atUnitX: 0.75, y: 0.75) < 5) }
    }
}
